"""The page: runs as they work, on 127.0.0.1 alone."""
