"""The call process: imports a module of the user's and calls one of its functions with plain data."""
