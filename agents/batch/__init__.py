"""Many specs: read, done by several workers, kept in a journal, reported."""
