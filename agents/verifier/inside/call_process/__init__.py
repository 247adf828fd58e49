"""The call process: imports a module of the user's and calls one function of it, with plain data."""
