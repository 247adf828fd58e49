"""Files: the run directory, atomic files, JSON form, questions."""
