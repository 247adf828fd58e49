"""The container backend: jobs in a container of podman or docker, for machines without Linux sandboxes.

host (sandbox.py, engine.py) ══ pipe (relay.py) ══ container (server.py, where the native backend runs the jobs)
"""
