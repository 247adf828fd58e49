"""The ways to isolate a process: bubblewrap, native namespaces, none; and a warm worker in any of them."""
