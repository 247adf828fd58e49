"""Programs that are sent into the sandbox as files. They import the standard library, pytest and each other."""
