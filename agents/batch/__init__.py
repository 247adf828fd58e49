"""Many specs: read, run by several workers, kept in a journal, reported."""
