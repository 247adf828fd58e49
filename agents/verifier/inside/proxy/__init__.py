"""Proxies of one process's objects in the other. Both processes run these modules (docs/verifier-protocol.md)."""
