"""YAML source -> nodes with their lines, and plain values; every fault is a YamlFault."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

_MOST_ALIASES = 1000
"""Aliases in a source: each repeats a text of any length."""
_LONGEST_NUMBER = 300
DEEPEST = 50
"""Nested lists and mappings; libyaml overflows the stack somewhere above ten thousand."""


class YamlFault(ValueError):
    """`str` is the reason; `line`, from 0, is where the source is not YAML, None where it is well-formed."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def composed(source: str) -> yaml.Node | None:
    """Return the only document in `source`; None without one. Raises YamlFault."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(source, loader)
        node = yaml.compose(source, Loader=loader)
    except yaml.YAMLError as error:
        raise _fault(error, 0) from error
    except YamlFault:
        raise
    except (RecursionError, ValueError, OverflowError) as error:
        raise YamlFault(str(error)) from error
    assert node is None or isinstance(node, yaml.Node)
    return node


def _check_depth(source: str, loader: type[yaml.SafeLoader]) -> None:
    """Raise YamlFault where `source` nests too deeply, or has merge keys or too many aliases, which expand it."""
    import yaml

    depth = aliases = 0
    for event in yaml.parse(source, Loader=loader):
        line = event.start_mark.line if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            raise YamlFault("merge keys, `<<`, are not read", line)
        if depth > DEEPEST:
            raise YamlFault("it nests too deeply", line)
        aliases += isinstance(event, yaml.AliasEvent)
        if aliases > _MOST_ALIASES:
            raise YamlFault(f"it has more than {_MOST_ALIASES} aliases", line)


def _fault(error: yaml.YAMLError, line: int) -> YamlFault:
    mark = getattr(error, "problem_mark", None)
    return YamlFault(getattr(error, "problem", None) or "it can't be read", mark.line if mark else line)


def built(node: yaml.Node) -> object:
    """Return the value that `node` stands for. Raises YamlFault."""
    import yaml

    try:
        constructor = yaml.constructor.SafeConstructor()
        known = constructor.yaml_constructors  # the class's; the instance gets its own
        constructor.yaml_constructors = {**known, "tag:yaml.org,2002:int": _whole_number}  # type: ignore[misc]
        value: object = constructor.construct_document(node)
    except yaml.YAMLError as error:
        raise _fault(error, node.start_mark.line) from error
    # Tags that don't fit their values (`!!bool x`, `!!int ""`, `!!timestamp x`) raise each of these.
    except (RecursionError, ValueError, OverflowError, LookupError, AttributeError, TypeError) as error:
        raise YamlFault(f"a value is not what its tag says: {error}") from error
    return value


def _whole_number(constructor: yaml.constructor.SafeConstructor, node: yaml.ScalarNode) -> int:
    if len(node.value) > _LONGEST_NUMBER:  # `1:59:59...` takes quadratic time, and Python writes no such number
        raise ValueError("a number is too long")
    return constructor.construct_yaml_int(node)


def key_lines(node: yaml.Node) -> dict[str, int]:
    """Return the line, from 0, of each key of a mapping, and of each key of a mapping in it."""
    import yaml

    lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else []:
        lines[str(key.value)] = key.start_mark.line
        if isinstance(value, yaml.MappingNode):
            lines.update({str(inner.value): inner.start_mark.line for inner, _ in value.value})
    return lines
