"""The container backend: jobs in a container of podman's or docker's, for machines without Linux sandboxes.

host (sandbox.py, engine.py) ══ pipe (relay.py) ══ container (server.py, which has the native backend run the jobs)
"""
