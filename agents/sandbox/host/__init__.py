"""What the host does for a sandboxed process: start, limit, watch, read, end."""
