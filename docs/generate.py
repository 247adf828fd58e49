"""Writes the generated parts of docs/: `python docs/generate.py`. A test holds them up to date."""

from __future__ import annotations

import ast
import json
import sys
from datetime import datetime
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))


def result_schema() -> str:
    """The JSON schema of the document that `--json` prints."""
    from pydantic import TypeAdapter

    from agents.records import RunResult

    schema = TypeAdapter(RunResult).json_schema(mode="serialization")
    schema["title"] = "Result of a greenloop run (--json)"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def heal_schema() -> str:
    """The JSON schema of the document that `heal --json` prints."""
    from pydantic import TypeAdapter

    from agents.records.heal import HealResult

    schema = TypeAdapter(HealResult).json_schema(mode="serialization")
    schema["title"] = "Result of a heal (heal --json)"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def audit_schema() -> str:
    """The JSON schema of the document that `audit --json` prints."""
    from pydantic import TypeAdapter

    from agents.audit.records import ProjectReport

    schema = TypeAdapter(ProjectReport).json_schema(mode="serialization")
    failure = {
        "properties": {name: {"type": "string"} for name in ("kind", "message")},
        "required": ["kind", "message"],
    }
    schema["anyOf"] = [
        {"properties": {"error": {"type": "null"}}, "required": ["passed", *schema["required"]]},
        {"properties": {"error": {"type": "object", **failure}}, "required": ["exit_code"]},
    ]
    schema["properties"] |= {
        "schema_version": {"const": 1, "type": "integer"},
        "passed": {"description": "True where the exit code is 0.", "type": "boolean"},
        "exit_code": {"type": "integer"},
        "error": {"description": "Why there is no report; null where there is one.", "type": ["object", "null"]},
    }
    schema["required"] = ["error", "schema_version"]
    schema["title"] = "Report on a repository's tests (audit --json)"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def batch_result_schema() -> str:
    """The JSON schema of a line of a batch's results.jsonl."""
    from pydantic import TypeAdapter

    from agents.batch.records import EntryResult
    from agents.batch.reports import SCHEMA_VERSION

    schema = TypeAdapter(EntryResult).json_schema(mode="serialization")
    schema["properties"] |= {
        "schema_version": {"const": SCHEMA_VERSION, "title": "Schema Version", "type": "integer"},
        "reached": {
            "description": "Whether it came to its end with at least the required grade.",
            "title": "Reached",
            "type": "boolean",
        },
    }
    schema["required"] = sorted(schema["properties"])
    schema["additionalProperties"] = False
    schema["title"] = "A line of results.jsonl (greenloop batch)"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def batch_schema() -> str:
    """The JSON schema of the document that `batch --json` prints."""
    from pydantic import TypeAdapter

    from agents.batch.outcome import BatchResult

    schema = TypeAdapter(BatchResult).json_schema(mode="serialization")
    schema["title"] = "Result of a greenloop batch (batch --json)"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def event_schema() -> str:
    """The JSON schema of a line of a run's events.jsonl."""
    from dataclasses import is_dataclass
    from typing import Annotated, Literal, get_args, get_type_hints

    from pydantic import Field, TypeAdapter, create_model

    from agents.events import NAMES, SHOWN
    from agents.records import Request

    lines: list[Any] = []
    for kind, name in NAMES.items():
        keys: dict[str, object] = {"number": Annotated[int, Field(ge=1)], "time": datetime, "event": Literal[name]}
        for field, hint in get_type_hints(kind).items():
            parts = {part: get_type_hints(hint)[part] for part in SHOWN.get(hint, ())}
            keys |= {part: int if part == "disputes" else own for part, own in parts.items()}
            if hint is Request:
                keys["call"] = int
            elif field == "run_dir":
                keys["id"] = str
            elif not any(is_dataclass(each) for each in (hint, *get_args(hint))):
                keys[field] = hint
        required: dict[str, Any] = {key: (hint, ...) for key, hint in keys.items()}
        lines.append(create_model(kind.__name__, __doc__=kind.__doc__, **required))
    schema = TypeAdapter(reduce(or_, lines)).json_schema(mode="serialization")
    schema["title"] = "A line of events.jsonl"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def track_record() -> str:
    """How often each grade was right on each kind of spec, over the recorded runs (docs/measure/grades.py)."""
    from agents.judge.track_record import EMBEDDED_FAMILY, counted, kind_of

    runs = json.loads((DOCS / "benchmark" / "grades.json").read_text("utf-8"))
    kinds: dict[str, list[Any]] = {}
    for run in runs:
        kinds.setdefault(f"{run['grade']} {kind_of(run['grade'], run['clauses'], run['alike'])}", []).append(run)
    measured = {}
    for key, those in kinds.items():
        benchmarks = sorted({TITLES.get(run["set"], "everyday specs") for run in those})
        measured[key] = {**counted([run["right"] for run in those]), "benchmarks": benchmarks}
    return json.dumps({EMBEDDED_FAMILY: measured}, indent=1, sort_keys=True) + "\n"


def imports_between_floors() -> dict[str, set[str]]:
    """For each floor of the package the floors that it imports; type checking included."""
    package = DOCS.parent / "agents"
    arrows: dict[str, set[str]] = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == len(parts) and node.module:
                arrows.setdefault(parts[0], set()).add(node.module.partition(".")[0])
    return arrows


def reached(arrows: dict[str, set[str]], start: str) -> set[str]:
    """Every floor below `start`."""
    return {each for used in arrows.get(start, ()) for each in {used, *reached(arrows, used)}}


def architecture() -> str:
    """The page of the architecture with its picture: Mermaid's graph of the arrows that follow from no others."""
    arrows = imports_between_floors()
    lines = [
        f"    {floor} --> {used}"
        for floor in sorted(arrows)
        for used in sorted(arrows[floor])
        if not any(used in reached(arrows, other) for other in arrows[floor] - {used})
    ]
    before, begin, rest = (DOCS / "architecture.md").read_text("utf-8").partition("<!-- picture -->\n")
    end = rest[rest.index("<!-- end of picture -->") :]
    return "".join([before, begin, "```mermaid\ngraph TD\n", "\n".join(lines), "\n```\n", end])


def options() -> str:
    """Every option of every command: what it says, who has it, and where it may come from beside the flag."""
    from agents.cli.main import RUN, app, commands
    from agents.settings import Output, Use, uses

    settings = {**uses(), **uses(Output)}
    having: dict[tuple[str, str, str, str], list[str]] = {}
    for command in sorted(commands()):
        _, apps, _ = app.parse_commands(() if command == RUN else command.split())
        defaults = app.default_parameter
        for argument in apps[-1].assemble_argument_collection(default_parameter=defaults, parse_docstring=True):
            if not argument.name.startswith("--"):
                continue
            use = settings.get(argument.name.strip("-").replace("-", "_"), Use.ACT)
            variable = f"`GREENLOOP_{argument.name.strip('-').replace('-', '_').upper()}`"
            sources = {variable: Use.ACT not in use, "`.env`": Use.FILE in use, "record": Use.RECORD in use}
            shown = argument.show_default(argument.field_info.default) if callable(argument.show_default) else None
            default = "" if shown is None else f"`{shown}`"
            text = " ".join((argument.parameter.help or "").split()).replace("|", "\\|")
            names = ", ".join(f"`{name}`" for name in argument.names)
            told = ", ".join(source for source, counts in sources.items() if counts)
            having.setdefault((names, text, default, told), []).append(command)
    rows = [
        f"| {names} | {text} | {default} | {', '.join(those)} | {told} |"
        for (names, text, default, told), those in sorted(having.items())
    ]
    before, begin, _ = (DOCS / "options.md").read_text("utf-8").partition("|---|---|---|---|---|\n")
    return "".join([before, begin, "\n".join(rows), "\n"])


TITLES = {"with": "HumanEval+", "without": "HumanEval+ without examples", "mbpp": "MBPP+"}
"""What a set of recorded runs is called; the others are of everyday specs."""
GENERATED = {
    "architecture.md": architecture,
    "options.md": options,
    "schema/result.json": result_schema,
    "schema/audit.json": audit_schema,
    "schema/heal.json": heal_schema,
    "schema/batch-result.json": batch_result_schema,
    "schema/batch.json": batch_schema,
    "schema/event.json": event_schema,
    "../agents/judge/track_record.json": track_record,
}

if __name__ == "__main__":
    for name, make in GENERATED.items():
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(make(), encoding="utf-8")
