"""YAML front matter of a spec: id, signature, examples, tests, packages, modules and limits."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from ..errors import UsageError
from ..records import SpecLimits
from .modules import requirements
from .place import Place, place_of
from .yaml_source import YamlFault, built, composed, key_lines

_LIMITS = ("max_rounds", "max_seconds", "max_tokens", "max_cost")
_MOST = 1_000_000_000
"""The highest limit, as for the options."""
KEYS = ("id", "signature", "examples", "tests", "packages", "with", "limits", *_LIMITS)
_BLOCK = re.compile(r"(?s)\A---[ \t]*\n(?P<yaml>.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_OPENED = re.compile(r"\A---[ \t]*\n(?:[ \t]*(?:#.*)?\n)*[A-Za-z_][\w-]*[ \t]*:(?:\s|\Z)")
"""A first line `---`, and a key after it."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The settings in a spec's front matter; `places` has the place of each key. `source` is its text, or a text
    that depends on the values only: a spec's id is made of it."""

    id: str | None = None
    signature: str | None = None
    examples: tuple[str, ...] = ()
    tests: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ()
    modules: tuple[Path, ...] = ()
    named: tuple[str, ...] = ()
    """`modules` as they are written: in a batch some may be the ids of other specs."""
    limits: SpecLimits = field(default_factory=SpecLimits)
    places: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def over(self, other: FrontMatter) -> FrontMatter:
        """Return these settings, with those of `other` for the missing ones."""
        own = {each.name: value for each in fields(self) if (value := getattr(self, each.name))}
        limits = {key: value for key, value in asdict(self.limits).items() if value}
        own["limits"] = replace(other.limits, **limits)
        own |= {"places": {**other.places, **self.places}, "source": self.source + other.source}
        return replace(other, **own)


def separated(text: str, place: Place) -> tuple[FrontMatter, str]:
    """Return the front matter of `text`, and the text after it. Raises UsageError that names the line."""
    match = _BLOCK.match(text)
    if not match:
        if _OPENED.match(text):
            raise UsageError(f"{place.at(1)}: the front matter is never closed; write `---` on the line after it.")
        return FrontMatter(), text
    data, lines = _loaded(match["yaml"], place)
    if data is None:
        # Prose between two horizontal rules.
        return FrontMatter(), text
    return replace(front_matter(data, lines, place), source=text[: match.end()]), text[match.end() :]


def front_matter(data: Mapping[object, object], lines: Mapping[str, int], place: Place) -> FrontMatter:
    """Return the front matter with these values, such as an item of a list of specs; `lines` are those of its
    keys. Raises UsageError that names the line."""
    read = Fields(data, lines, place)
    read.check_keys(KEYS)
    found = FrontMatter(
        id=read.identifier(),
        signature=read.text("signature"),
        examples=read.texts("examples"),
        tests=tuple(place.file(name, read.where("tests")) for name in read.texts("tests")),
        packages=requirements(read.texts("packages")),
        modules=tuple(place.file(name, read.where("with")) for name in read.texts("with")),
        named=read.texts("with"),
        limits=_limits(read),
        places={str(key): read.where(str(key)) for key in data},
    )
    texts = {
        "id": found.id,
        "signature": found.signature,
        "examples": found.examples,
        "tests": read.texts("tests"),
    }
    every = {**texts, "packages": found.packages, "with": found.named, **asdict(found.limits)}
    values = {key: value for key, value in every.items() if value}
    return replace(found, source=json.dumps(values, sort_keys=True) + "\n" if values else "")


def _limits(read: Fields) -> SpecLimits:
    nested = read.data.get("limits")
    nested = {} if nested is None else nested
    if not isinstance(nested, dict):
        raise read.complaint("limits", "a mapping such as `max_rounds: 3`")
    Fields(nested, read.lines, read.place).check_keys(_LIMITS)
    limits = Fields({**nested, **read.data}, read.lines, read.place)
    return SpecLimits(
        max_rounds=limits.whole_number("max_rounds"),
        max_seconds=limits.number("max_seconds"),
        max_tokens=limits.whole_number("max_tokens"),
        max_cost=limits.number("max_cost"),
    )


def listed(text: str, key: str, origin: str) -> list[tuple[str, int]]:
    """Return the texts of the list `key`, the only key of a document, each with its line (from 1). Raises
    UsageError that names `origin` and the line."""
    import yaml

    place = place_of(origin)
    data, lines = _loaded(text, place, first=1)
    read = Fields(data or {}, lines, place)
    for other in read.data:
        if other != key:
            raise UsageError(f"{read.where(str(other))}: `{other}` is not known here; give one list, `{key}:`.")
    if not (values := read.texts(key)):
        return []
    tree = composed(text)
    node = tree.value[0][1] if isinstance(tree, yaml.MappingNode) else tree
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [(value, item.start_mark.line + 1) for value, item in zip(values, items, strict=True)]


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping read from YAML, JSON or a table, with the line of each key where that is known."""

    data: Mapping[object, object]
    lines: Mapping[str, int]
    place: Place

    def where(self, key: str) -> str:
        """Return the place of a key, for messages."""
        return self.place.at(self.lines[key]) if key in self.lines else self.place.whole

    def complaint(self, key: str, wanted: str) -> UsageError:
        """Return the error for a value other than the `wanted`."""
        return UsageError(f"{self.where(key)}: `{key}` must be {wanted}.")

    def check_keys(self, known: tuple[str, ...]) -> None:
        """Raise UsageError for a key that is not among those `known`."""
        for key in self.data:
            if key not in known:
                name = str(key)[:40]
                raise UsageError(f"{self.where(str(key))}: unknown front matter key `{name}`; {hint(name, known)}")

    def text(self, key: str) -> str | None:
        """Return the text of a key. Raises UsageError where it is none."""
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.complaint(key, "text; quote it")
        return value.strip() if isinstance(value, str) else None

    def identifier(self) -> str | None:
        """Return the given id. Raises UsageError for one that is no name."""
        identifier = self.text("id")
        if identifier is not None and not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,79}", identifier):
            raise self.complaint("id", "letters, digits, dots, dashes and underscores, at most 80")
        return identifier

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of a key, one or a list of them. Raises UsageError."""
        value = self.data.get(key)
        values = [] if value is None else value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) and item.strip() for item in values):
            raise self.complaint(key, "a list of texts; quote each")
        return tuple(str(item).strip() for item in values)

    def number(self, key: str) -> float | None:
        """Return the number above 0 of a key. Raises UsageError."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _MOST:
            raise self.complaint(key, f"a number above 0, at most {_MOST}")
        return value

    def whole_number(self, key: str) -> int | None:
        """Return the whole number above 0 of a key. Raises UsageError."""
        value = self.number(key)
        if value is not None and value != int(value):
            raise self.complaint(key, "a whole number above 0")
        return None if value is None else int(value)


def hint(name: str, known: Sequence[str]) -> str:
    """Return a hint for the unknown key `name`: a similar one, or all of `known`."""
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else f"known keys are {', '.join(known)}."


def _loaded(source: str, place: Place, first: int = 2) -> tuple[dict[object, object] | None, dict[str, int]]:
    """Return the mapping in `source`, which begins on line `first`, and its keys' lines; None for no mapping."""
    what = "the front matter" if first > 1 else "the file"
    try:
        node = composed(source)
        data = built(node) if node is not None else {}
    except YamlFault as fault:
        if fault.line is None:
            raise UsageError(f"{place.at(1)}: {what} can't be read ({fault}); quote its values.") from fault
        where = place.at(fault.line + first)
        raise UsageError(f"{where}: {what} is not YAML ({fault}); quote values.") from fault
    if node is None or data is None:
        return {}, {}
    if not isinstance(data, dict):
        return None, {}
    return data, {key: line + first for key, line in key_lines(node).items()}
