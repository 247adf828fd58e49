"""The files of a folder of the user's, and what git knows of them; nothing that lies there is run."""
