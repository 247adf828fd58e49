"""A pytest plugin that runs inside the sandbox, beside the project's own tests."""
