"""Programs that run in the sandbox for a heal. They work on Python 3.9 to 3.14 and import the standard library
alone."""
