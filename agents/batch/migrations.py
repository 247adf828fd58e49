"""The journal's tables, as steps that are taken once each, in order; a step that was released is never changed."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0001-entries-and-results",
        (
            "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
            # `place` is the entry's number in the batch, NULL once its spec is no longer part of it.
            """CREATE TABLE entries (
                id TEXT PRIMARY KEY,
                place INTEGER,
                entry TEXT NOT NULL,
                digest TEXT NOT NULL,
                state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'ended')),
                tries INTEGER NOT NULL DEFAULT 0
            ) STRICT""",
            "CREATE INDEX entries_by_place ON entries (place)",
            # Results of earlier digests stay: what they cost was spent.
            """CREATE TABLE results (
                id TEXT NOT NULL REFERENCES entries (id),
                digest TEXT NOT NULL,
                final INTEGER NOT NULL,
                result TEXT NOT NULL,
                tokens INTEGER NOT NULL,
                cost REAL NOT NULL,
                PRIMARY KEY (id, digest)
            ) STRICT""",
        ),
    ),
)
