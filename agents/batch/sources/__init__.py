"""Where the specs of a batch stand: a reader for each format, from a name or an open file to items."""
