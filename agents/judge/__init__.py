"""Board to Ruling, without I/O: agreement, votes, ledger, probes, thresholds, track record."""
