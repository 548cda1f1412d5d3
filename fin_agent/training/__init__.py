"""Fitting what is learned: the weights of the page scorer."""
