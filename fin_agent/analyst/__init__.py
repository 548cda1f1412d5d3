"""The analyst: the reasoning roles of a run behind one protocol."""
