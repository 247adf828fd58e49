"""Measures the strength of a suite: what it runs of the code, and which changes of the code it notices."""
