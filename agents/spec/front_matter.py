"""YAML front matter of a spec: id, signature, examples, tests and limits."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import UsageError
from ..records import SpecLimits

_LIMITS = ("max_rounds", "max_seconds", "max_tokens", "max_cost")
_KEYS = ("id", "signature", "examples", "tests", "limits", *_LIMITS)
_BLOCK = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a spec's front matter sets; `tests` are paths, relative to the spec, and `lines` says where each is."""

    id: str | None = None
    signature: str | None = None
    examples: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    limits: SpecLimits = field(default_factory=SpecLimits)
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, key: str) -> int:
        """The line of the spec on which `key` is set; 1 where it is not."""
        return self.lines.get(key, 1)


def separated(text: str, origin: str) -> tuple[FrontMatter, str]:
    """The front matter of `text`, and the text after it. Raises UsageError that names `origin` and the line."""
    match = _BLOCK.match(text)
    if not match:
        return FrontMatter(), text
    data, lines = _loaded(match["yaml"], origin)
    if data is None:
        # Prose between two rules.
        return FrontMatter(), text
    fields = _Fields(data, lines, origin)
    fields.check_keys(_KEYS)
    identifier = fields.text("id")
    if identifier is not None and not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,79}", identifier):
        raise fields.complaint("id", "letters, digits, dots, dashes and underscores, at most 80")
    nested = data.get("limits", {})
    if not isinstance(nested, dict):
        raise fields.complaint("limits", "a mapping such as `max_rounds: 3`")
    _Fields(nested, lines, origin).check_keys(_LIMITS)
    limits = _Fields({**nested, **data}, lines, origin)
    rounds, tokens = limits.number("max_rounds", whole=True), limits.number("max_tokens", whole=True)
    return FrontMatter(
        id=identifier,
        signature=fields.text("signature"),
        examples=fields.texts("examples"),
        tests=fields.texts("tests"),
        limits=SpecLimits(
            max_rounds=int(rounds) if rounds is not None else None,
            max_seconds=limits.number("max_seconds"),
            max_tokens=int(tokens) if tokens is not None else None,
            max_cost=limits.number("max_cost"),
        ),
        lines=lines,
    ), text[match.end() :]


def listed(text: str, key: str, origin: str) -> list[tuple[str, int]]:
    """The texts of the list `key` in a document that holds nothing else, each with its line (from 1).

    Raises UsageError that names `origin` and the line.
    """
    import yaml

    data, lines = _loaded(text, origin, first=1)
    fields = _Fields(data or {}, lines, origin)
    for other in fields.data:
        if other != key:
            where = f"{origin}, line {lines.get(str(other), 1)}"
            raise UsageError(f"{where}: `{other}` is not known here; give one list, `{key}:`.")
    if not (values := fields.texts(key)):
        return []
    tree = yaml.compose(text, Loader=yaml.SafeLoader)
    node = tree.value[0][1] if isinstance(tree, yaml.MappingNode) else tree
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [(value, item.start_mark.line + 1) for value, item in zip(values, items, strict=True)]


@dataclass(frozen=True, slots=True)
class _Fields:
    """A mapping read from YAML, with the line of each key."""

    data: Mapping[object, object]
    lines: Mapping[str, int]
    origin: str

    def complaint(self, key: str, wanted: str) -> UsageError:
        return UsageError(f"{self.origin}, line {self.lines.get(key, 1)}: `{key}` must be {wanted}.")

    def check_keys(self, known: tuple[str, ...]) -> None:
        for key in self.data:
            if key not in known:
                name = str(key)[:40]
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"known keys are {', '.join(known)}."
                where = f"{self.origin}, line {self.lines.get(name, 1)}"
                raise UsageError(f"{where}: unknown front matter key `{name}`; {hint}")

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.complaint(key, "text; quote it")
        return value.strip() if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        values = [] if value is None else value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) and item.strip() for item in values):
            raise self.complaint(key, "a list of texts; quote each")
        return tuple(str(item).strip() for item in values)

    def number(self, key: str, *, whole: bool = False) -> float | None:
        value = self.data.get(key)
        if value is None:
            return None
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if not numeric or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self.complaint(key, "a number above 0")
        if whole and value != int(value):
            raise self.complaint(key, "a whole number above 0")
        return value


def _loaded(source: str, origin: str, first: int = 2) -> tuple[dict[object, object] | None, dict[str, int]]:
    """The mapping in `source`, which begins on line `first`, and the line of each key; None for no mapping."""
    import yaml

    what = "the front matter" if first > 1 else "the file"
    try:
        data = yaml.safe_load(source)
        node = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + first if mark else 1
        problem = getattr(error, "problem", None) or "it can't be read"
        raise UsageError(f"{origin}, line {line}: {what} is not YAML ({problem}); quote values.") from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise UsageError(f"{origin}, line 1: {what} can't be read ({error}); quote its values.") from error
    if data is None:
        return {}, {}
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        return None, {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        lines[str(key.value)] = key.start_mark.line + first
        if isinstance(value, yaml.MappingNode):
            lines.update({str(inner.value): inner.start_mark.line + first for inner, _ in value.value})
    return data, lines
