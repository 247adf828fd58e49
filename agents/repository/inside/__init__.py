"""Programs that run a repository's tests in the sandbox, in the project's own Python (3.9 or newer)."""
