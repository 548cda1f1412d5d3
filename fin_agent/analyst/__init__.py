"""The reasoning roles behind one protocol."""
