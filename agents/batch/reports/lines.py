"""`results.jsonl`: a JSON document a line, one for each spec; their schema is docs/schema/batch-result.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..labels import Report
from ..records import EntryResult

SCHEMA_VERSION = 1


def lines(report: Report) -> Iterator[str]:
    """Yield a line for each result; all beyond ASCII is escaped, so that a line is safe to print."""
    for result in report.results:
        document = {"schema_version": SCHEMA_VERSION, "reached": report.reached(result), **asdict(result)}
        yield json.dumps(document, separators=(",", ":")) + "\n"


def schema() -> dict[str, Any]:
    """Make the JSON schema of one line."""
    from pydantic import TypeAdapter

    made = TypeAdapter(EntryResult).json_schema(mode="serialization")
    own = {
        "schema_version": {"const": SCHEMA_VERSION, "title": "Schema Version", "type": "integer"},
        "reached": {
            "description": "Whether it came to its end with at least the required grade.",
            "title": "Reached",
            "type": "boolean",
        },
    }
    made["properties"] = {**own, **made["properties"]}
    made["required"] = sorted(made["properties"])
    made["additionalProperties"] = False
    made["title"] = "A line of results.jsonl (greenloop batch)"
    return made
