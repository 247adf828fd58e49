"""YAML source -> nodes, which know their lines, and plain values; a fault in it is one kind of error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

DEEPEST = 50
"""Lists and mappings within one another; libyaml overflows the stack somewhere above ten thousand."""


class YamlFault(ValueError):
    """`str` is the reason; `line`, from 0, is where the source stops being YAML, None where it is well-formed."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def composed(source: str) -> yaml.Node | None:
    """Return the one document in `source`; None where there is none. Raises YamlFault."""
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
    """Raise YamlFault where `source` nests too deeply, or has merge keys, which a few lines can make endless."""
    import yaml

    depth = 0
    for event in yaml.parse(source, Loader=loader):
        line = event.start_mark.line if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            raise YamlFault("merge keys, `<<`, are not read", line)
        if depth > DEEPEST:
            raise YamlFault("it nests too deeply", line)


def _fault(error: yaml.YAMLError, line: int) -> YamlFault:
    mark = getattr(error, "problem_mark", None)
    return YamlFault(getattr(error, "problem", None) or "it can't be read", mark.line if mark else line)


def built(node: yaml.Node) -> object:
    """Return the value that `node` stands for. Raises YamlFault."""
    import yaml

    try:
        value: object = yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        raise _fault(error, node.start_mark.line) from error
    # A tag that its value does not fit (`!!bool x`, `!!int ""`, `!!timestamp x`) fails as each of these.
    except (RecursionError, ValueError, OverflowError, LookupError, AttributeError, TypeError) as error:
        raise YamlFault(f"a value is not what its tag says: {error}") from error
    return value


def key_lines(node: yaml.Node) -> dict[str, int]:
    """Return the line, from 0, of each key of a mapping, and of each key of a mapping in it."""
    import yaml

    lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else []:
        lines[str(key.value)] = key.start_mark.line
        if isinstance(value, yaml.MappingNode):
            lines.update({str(inner.value): inner.start_mark.line for inner, _ in value.value})
    return lines
