"""Texts as vectors, dense and learned sparse, and exact search among them. Needs the extra `dense`."""
