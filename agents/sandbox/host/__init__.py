"""The host's side of a job: start, limit, watch, read, end."""
