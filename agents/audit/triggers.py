"""Finds in YAML files what runs tests, and if a push to a branch or a merge request triggers it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..spec.yaml_source import YamlFault, built, composed

_BRANCHES = ("main", "master", "develop", "dev", "trunk", "feature/a")
"""A condition that is true for one of these is true for changes."""
_EVENTS = re.compile(
    r"push|(external_)?(pull|merge)[-_]?(requests?|group)\w*|opened|synchronize|always\w*|succe\w*|on_success|"
    r"BatchedCI|branches|CI_(DEFAULT_BRANCH|OPEN_MERGE_REQUESTS|MERGE_REQUEST_\w+)",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"!|\b(not|ne)\b|CI_COMMIT_(BRANCH|REF_NAME)(?!\s*=)")
_WORD = re.compile(r"\w[\w./*-]*|^[./*]+$")
_OF_HOOKS = ("files", "exclude", "types", "types_or")
_WHEN = (
    *("True", "rules", "only", "except", "when", "condition", "branches", "workflow", "filters", "triggers"),
    "allow_failure",
    *_OF_HOOKS,
)
"""Keys with the triggers of what is beside them; YAML reads `on` as true."""
_COMMANDS = re.compile(
    r"(?!after_)\w*script|run|commands?|entry|bash|pwsh|powershell|sh|"
    r"extends|uses|template|include|local|steps"
)
_LEFT_OUT = {"ignore", "except", "exclude", "branches-ignore", "paths-ignore"}
_PATHS = {"paths", "paths-ignore", "path", "changes", "changesets"}
_BY_HAND = ("never", "manual", "on_fail", "on_failure")
_PART = re.compile(r"[\w{}-]+")
_MERGING = re.compile(r"<<\s*:")
LONGEST = 1 << 17
"""Characters of a YAML file that is read; references in longer ones are not followed."""
_Keys = tuple[str, ...]


def started(text: str, runs: re.Pattern[str], code: Sequence[str]) -> dict[str, bool]:
    """Return what has a command that `runs` finds, by its path of keys, and if changes of the files `code` trigger
    it; nothing of a text that is too long. An unreadable file is one thing that is triggered."""
    try:
        plain = _MERGING.sub("merged:", text.replace("!reference", ""))
        node = composed(plain) if len(text) < LONGEST else None
        top: Any = _with_texts_as_keys(built(node)) if node is not None else None
    except YamlFault:
        return {"": True}
    found: dict[str, bool] = {}
    if isinstance(top, dict):
        asked = _holds("pr", top, code) and not isinstance(top.get("trigger"), dict)
        is_started = _holds("if", top, code) and (asked or _holds("trigger", top, code))
        jobs = {*_listed(top.get("workflows"), code)}
        for keys, opened in _commands(top, (), runs, code):
            is_left_out = keys[0][:1] == "." or keys[0] == "definitions"
            is_left_out = is_left_out or ("workflows" in top and keys[0] == "jobs" and jobs.isdisjoint(keys))
            place = ".".join(keys)
            found[place] = found.get(place, False) or (opened and is_started and not is_left_out)
    return found


def _with_texts_as_keys(value: Any) -> Any:
    """Return the value with what is merged into each table in its place."""
    if isinstance(value, dict):
        own = {str(key): _with_texts_as_keys(each) for key, each in value.items()}
        merged = own.pop("merged", None)
        return {**merged, **own} if isinstance(merged, dict) else own
    return [*map(_with_texts_as_keys, value)] if isinstance(value, list) else value


def _listed(workflows: Any, code: Sequence[str]) -> Iterator[str]:
    """Yield the names of jobs in workflows, as far as conditions hold."""
    tables = workflows.values() if isinstance(workflows, dict) else ()
    for each in (each for each in tables if isinstance(each, dict) and _all_hold(each, code)):
        for job in each.get("jobs") or ():
            told = job if isinstance(job, dict) else {job: None}
            yield from (name for name in told if _holds("filters", told[name] or {}, code))


def _commands(value: Any, keys: _Keys, runs: re.Pattern[str], code: Sequence[str]) -> Iterator[tuple[_Keys, bool]]:
    """Yield the keys that lead to each command, and True if all conditions on the way there hold."""
    if isinstance(value, str) and keys and _COMMANDS.fullmatch(keys[-1]) and runs.search(value):
        yield keys[:-1] or keys, True
    for each in value if isinstance(value, list) else ():
        yield from _commands(each, keys, runs, code)
    own = value if isinstance(value, dict) else {}
    by_name = keys == ("pipelines",)  # Bitbucket's, of which some names are conditions
    for key in own:
        opened = key not in ("custom", "tags") if by_name else _all_hold(own, code)
        for found, inner in _commands(own[key], (*keys, key), runs, code) if by_name or key not in _WHEN else ():
            yield found, inner and opened and not (key == "extends" and "script" in own)


def _all_hold(told: Mapping[str, Any], code: Sequence[str]) -> bool:
    return told.get("always_run") is True or all(_holds(key, told, code) for key in _WHEN)


def _holds(key: str, told: Mapping[str, Any], code: Sequence[str]) -> bool:
    """Return True if the condition under a key, if there is one, holds for changes."""
    value = told.get(key)
    if key == "allow_failure":
        return value is not True
    if key == "workflow":
        return not isinstance(value, dict) or _holds("rules", value, code)
    if key == "True" and isinstance(value, dict):
        return any(_EVENTS.fullmatch(event) and _holds(event, value, code) for event in value)
    names: list[str] = []
    left_out: list[str] = []
    paths: list[str] = []
    for keys, text in _leaves(value, (key,)) if key in told else ():
        is_left_out = not _LEFT_OUT.isdisjoint(keys)
        if not _PATHS.isdisjoint(keys) or keys[0] in _OF_HOOKS:
            paths.append(("!" if is_left_out else "") + text)
        elif not ("filters" in keys and "tags" in keys):  # of tags it speaks alone
            (left_out if is_left_out else names).append("never" if "tags" in keys else text)
    branches = [each for each in _BRANCHES if not any(_takes(text, each) for text in left_out)]
    is_open = (not names or any(map(_is_open, names))) and branches and "branches" not in left_out
    return bool(is_open) and 2 * sum(_is_chosen(path, paths) for path in code) >= len(code)


def _leaves(value: Any, keys: _Keys) -> Iterator[tuple[_Keys, str]]:
    """Yield a condition's texts with their keys; rules after one for all, and manual starts, do not count."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            yield keys, keys[-1] if each is None else str(each)
        elif each.get("when") not in _BY_HAND:
            for key in (key for key in each if key != "inputs"):
                yield from _leaves(each[key], (*keys, key))
        else:
            yield keys, "never"
            if len(each) == 1:
                return


def _is_open(text: str) -> bool:
    """Return True for a name, pattern or expression that holds for changes."""
    words = [each.removeprefix("refs/heads/") for each in _WORD.findall(text)]
    named = any(_EVENTS.fullmatch(each) or any(_takes(each, branch) for branch in _BRANCHES) for each in words)
    return named or text.lower() == "true" or bool(_NEGATED.search(text))


def _takes(pattern: str, branch: str) -> bool:
    return fnmatchcase(branch, pattern.strip("/^$").replace(".*", "*"))


def _is_chosen(path: str, patterns: Sequence[str]) -> bool:
    """Return True if the last pattern with a word of the path, or none, takes it; by default if all leave out."""
    parts = {*re.split(r"[/.]", path), "python", "text", "file"}
    words = [(each[:1] == "!", {*_PART.findall(each)} - {"x", "pyi"}) for each in patterns]
    rest = not patterns or all(is_left_out for is_left_out, _ in words)
    return next((not is_left_out for is_left_out, each in reversed(words) if not each or each & parts), rest)
