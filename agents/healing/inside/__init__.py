"""Programs that run in the sandbox for a heal, on Python 3.9 to 3.14 with the standard library alone."""
