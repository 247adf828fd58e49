"""The JSON form of records: dataclasses to text, and back with every field checked, and what no type says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..records import RoundRecord, Spec
from ..syntax.clean_text import clean
from ..syntax.source import parses

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def loaded(kind: type[Any], text: str | bytes) -> Any:
    """The record of `kind` in `text`. Raises pydantic's ValidationError, which is a ValueError."""
    return _adapter(kind).validate_json(text)


def checked(kind: type[Any], values: object) -> Any:
    """The record of `kind` with `values`, which were JSON. Raises as `loaded`."""
    return _adapter(kind).validate_python(values)


def dumped(record: object, *, indent: int | None = None) -> str:
    """The JSON text of a dataclass."""
    text: str = _adapter(type(record)).dump_json(record, indent=indent).decode("utf-8")
    return text


def cleaned(told: Any) -> Any:
    """Return JSON values with every text in them cleaned."""
    match told:
        case str():
            return clean(told)
        case list() | tuple():
            return list(map(cleaned, told))
        case dict():
            return {clean(key): cleaned(each) for key, each in told.items()}
    return told


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        if is_dataclass(kind):  # what JSON can't hold is in no record, whatever the file says
            own = getattr(kind, "__pydantic_config__", {})
            kind.__pydantic_config__ = {"allow_inf_nan": False, **own}  # type: ignore[attr-defined]
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def check_spec(spec: Spec, place: Path) -> None:
    """Raise UsageError where an example or a test of a spec kept at `place`, anybody's maybe, is not Python."""
    examples = (example.code for example in spec.examples)
    _check_tests((*examples, *spec.wrong_tests, *spec.unspecified, spec.user_tests or ""), place)


def check_round(record: RoundRecord, place: Path) -> None:
    """Raise UsageError where parts of a round kept at `place` do not fit, or a test is not Python."""
    for board in (record.board, record.probes or record.board):
        if len(board.candidates) != len(board.verdicts):
            raise UsageError(f"{place} has {len(board.verdicts)} verdicts on other candidates.")
    if record.ruling.leader not in (None, *(each.id for each in record.board.candidates)):
        raise UsageError(f"{place} is led by a candidate that it does not have.")
    tests = (*record.board.tests, *(entry.test for entry in record.ruling.ledger))
    _check_tests({f"{test.preamble}\n{test.source}" for test in tests}, place)


def _check_tests(tests: Iterable[str], place: Path) -> None:
    if not all(map(parses, tests)):
        raise UsageError(f"{place} has a test that is not Python; it can't be shown or resumed.")
