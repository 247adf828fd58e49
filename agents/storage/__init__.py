"""What is kept on disk: run directory, atomic files, JSON form, questions."""
