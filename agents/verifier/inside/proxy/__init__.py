"""How objects of one process stand in the other; the same modules run in both (docs/verifier-protocol.md)."""
