"""Storage: the run directory, atomic files, JSON form of records, files of questions."""
