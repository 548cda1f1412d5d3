"""Benchmarks, metrics, reports."""
