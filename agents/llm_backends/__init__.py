"""Models: hosted, embedded, recorded."""
