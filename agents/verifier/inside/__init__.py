"""Programs that run inside the sandbox, sent there as files; nothing here is imported from outside this folder
but the shape of a frame. Standard library and pytest only."""
