"""Runs one file of tests on one candidate, in as many sessions as it takes for each test to have an outcome."""

from __future__ import annotations

import ast
import json
import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..records import Isolation, Outcome, Stopped
from ..syntax.clean_text import clean
from ..syntax.collection import chain
from ..syntax.imports import modules_imported
from ..syntax.literals import literal_value
from ..syntax.source import names_unbound, parse
from .async_plugins import async_plugins
from .audit import Audit, Trouble, audit
from .canary import plant
from .hypothesis_tables import hypothesis_tables
from .inside_bytecode import Side, programs
from .prepared_suite import TESTS_FILE, TestFile, belonging
from .sensitivity import Sensitivity, lacks_time
from .session import Break, Session, Terms
from .static.names import names_in

MOST_OUTPUT = 4000
_MOST_KEPT = 500
"""Entries of the cache of sensitivities, which is emptied when it has so many."""
_PREFIX = f"{TESTS_FILE}::"
_ENDS_OF_LOOPS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "CancelledError")


class FileRun:
    """Runs the tests of one `file` on `code`. `stopped` is the limit that an earlier run of the code exceeded: it
    makes timeouts shorter. With `measure` the tests' sensitivities are measured, or taken from the cache."""

    def __init__(self, terms: Terms, code: str, file: TestFile, stopped: Stopped | None, measure: bool) -> None:
        self.file = file
        self.noticed: dict[str, Sensitivity] = {}
        self.untried: set[str] = set()
        self.never: frozenset[int] | None = None
        """Lines of assertions that were not reached; None if unknown."""
        self.stopped = stopped
        self.trouble: Trouble | None = None
        self.output = ""
        self.notes: dict[str, None] = {}
        self.isolation: Isolation = "isolated"
        self.given_up = False
        self._terms = terms
        self._code = code.encode("utf-8", "surrogatepass")
        self._measure = measure
        self._outcomes: dict[str, Outcome] = {}
        self.collected: tuple[str, ...] = ()
        """The ids that pytest collected of the file."""
        self._moved: list[str] = []
        self._broke = False

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids that pytest collected of the file's tests, or the tests' names if it collected none."""
        names = set(self.file.names)
        return tuple(name for name in self.collected if belonging(name) in names) or self.file.names

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the items that ran, in pytest's order."""
        ordered = tuple(self._outcomes[name] for name in self.collected if name in self._outcomes)
        return ordered or tuple(self._outcomes.values())

    def run(self) -> None:
        """Run all tests. Raises SandboxBroken and Interrupted."""
        isolated = self.file.isolated
        if isolated:
            self._mode(isolated, isolated=True)
        one_process = [name for name in self.file.names if name not in isolated or name in self._moved]
        if one_process and self.trouble is None and not self.given_up:
            self.isolation = "in-process"
            self._mode(one_process, isolated=False)

    def _mode(self, names: Sequence[str], isolated: bool) -> None:
        """Run sessions until each test has an outcome. A test that breaks its session gets the blame, unless the
        tests before it may have used up a limit: then it runs again, first in a new session."""
        wanted = names
        while wanted:
            session, result = self._session(wanted, isolated)
            if result.trouble is not None or self.trouble is not None:
                return
            if result.uncollected:
                lines = result.uncollected.splitlines()
                errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E")] or lines
                self._fail(wanted, "\n".join(["the tests could not be imported:", *errors[-6:]]))
                return
            broke = session.broke
            if broke is None:
                return
            if broke.test_id is not None and broke.test_id.startswith(_PREFIX):
                name = broke.test_id.removeprefix(_PREFIX)
                first = next((item for item in self.collected if _is_wanted(_PREFIX + item, wanted)), None)
                if broke.kind != "limit" or name == first:
                    self._fail([name], broke.text, broke)
                if self._terms.hasty:
                    self.given_up = True
                    return
            else:
                self._fail(wanted, broke.text, broke)
                return
            moved = self._moved if isolated else ()
            wanted = [name for name in self._left(names) if belonging(name) not in moved]

    def _left(self, names: Sequence[str]) -> list[str]:
        """Return the ids of the tests `names` that have no outcome yet."""
        return [name for name in self.collected if belonging(name) in names and name not in self._outcomes]

    def _session(self, wanted: Sequence[str], isolated: bool) -> tuple[Session, Audit]:
        source = self.file.source
        canaries, expected = plant(cases=not isolated and "unittest" in source)
        session = self._opened(canaries, wanted, isolated)
        session.run()
        self._gather(session)
        result = audit(session, expected, partial(_is_wanted, wanted=frozenset(wanted)), source)
        self._believe(session, result, isolated)
        self._broke = self._broke or session.broke is not None
        if result.never is not None:
            self.never = result.never if self.never is None else self.never & result.never
            if self._broke:  # what the tests reached before the break is not on record
                self.never = None
            found = session.known if result.digest else None
            if found is None:
                found = {key.removeprefix(_PREFIX): noticed for key, noticed in result.noticed.items()}
                if result.digest and not lacks_time(found):
                    if len(self._terms.sensitivities) >= _MOST_KEPT:
                        self._terms.sensitivities.clear()
                    self._terms.sensitivities[source, result.digest] = found
            self.noticed.update(found)
        return session, result

    def _opened(self, canaries: Mapping[str, bytes], wanted: Sequence[str], isolated: bool) -> Session:
        tests = self.file.source.encode("utf-8", "surrogatepass")
        seconds = self._terms.call_seconds
        if self.stopped is not None:  # the code has hung before: what else hangs is to cost less
            seconds = min(seconds, max(1.0, seconds / 4))
        interpreter = self._terms.sandbox.interpreter
        code = {"user_code.py": self._code, **self._terms.importable.files}
        tables = hypothesis_tables() if self.file.has_properties else {}
        test_files = {**programs("test_process", interpreter), **tables, **canaries, TESTS_FILE: tests}
        rule = {"inside/importable.json": json.dumps(self._terms.importable.rule).encode()}
        code_files = {**programs("code_process", interpreter), **rule, **code}
        apart: dict[Side, Mapping[str, bytes]] = {"code_process": code_files, "test_process": test_files}
        before, after = canaries
        # Names that the tests can only have from a star import of the code, or of a module of the user's.
        unbound = names_unbound(self.file.source) if " import *" in self.file.source else []
        return Session(
            self._terms,
            task={
                "nonce": secrets.token_hex(16),
                "tests_file": TESTS_FILE,
                "wanted": list(wanted),
                "files": [before, TESTS_FILE, after],
                "names": sorted(unbound),
                "isolated": isolated,
                "members": _members(self.file.source),
                "absent": _absent(self.file.source),
                "expected": [name for name in _ENDS_OF_LOOPS if name in self.file.source],
                "properties": self.file.has_properties,
                "plugins": async_plugins(self.file.source, interpreter),
                "importable": self._terms.importable.rule,
                "imports": sorted(modules_imported(parse(self.file.source))),
                "measure": self._measure,
                "common": self.file.has_common_answers,
            },
            source=self.file.source,
            call_seconds=seconds,
            files=apart if isolated else {"test_process": {**test_files, **code}},
        )

    def _gather(self, session: Session) -> None:
        """Collect output, notes and the tests that turned out to need one process."""
        current = ""
        for record in session.records:
            kind = record.get("is")
            if kind == "start":
                current = str(record.get("id"))
            elif kind == "report":
                self.output += str(record.get("output", ""))[: MOST_OUTPUT - len(self.output)]
                facts = record.get("facts")
                if isinstance(facts, dict) and facts.get("untried") is True and current.startswith(_PREFIX):
                    self.untried.add(belonging(current.removeprefix(_PREFIX)))
            elif kind == "note":
                self.notes[str(record.get("text"))[:300]] = None
            elif kind == "unshareable" and current.startswith(_PREFIX):
                self._moved.append(belonging(current.removeprefix(_PREFIX)))

    def _believe(self, session: Session, result: Audit, isolated: bool) -> None:
        self.trouble = self.trouble or result.trouble
        broke = session.broke
        if self.trouble is None and broke is not None and broke.kind == "violation":
            self.trouble = ("forged", clean(broke.text))
        if self.trouble is None and broke is not None and broke.kind == "test_process":
            self.trouble = ("incomplete", clean(f"{broke.text} during {broke.test_id or 'its start'}"))
        self.collected = self.collected or tuple(
            key.removeprefix(_PREFIX) for key in result.ids if key.startswith(_PREFIX)
        )
        for key, outcome in result.outcomes.items():
            name = key.removeprefix(_PREFIX)
            if key.startswith(_PREFIX) and not (isolated and belonging(name) in self._moved):
                self._outcomes.setdefault(name, replace(outcome, test_id=name))
                if outcome.status == "stopped" and self.stopped is None:
                    memory = self._terms.limits.memory_bytes
                    self.stopped = Stopped("memory", memory, memory, "bytes")

    def _fail(self, names: Sequence[str], text: str, broke: Break | None = None) -> None:
        """Give all tests `names` without an outcome the same error."""
        stopped = broke.stopped if broke else None
        self.stopped = self.stopped or stopped
        for name in self._left(names) or names:
            self._outcomes[name] = Outcome(name, "stopped" if stopped else "error", clean(text))


def _members(source: str) -> list[tuple[str, ...]]:
    """Return the constants of the code that the tests name by a dotted path, such as members of an enum."""
    names = names_in(source)
    found = (chain(node) for node in names.nodes if isinstance(node, ast.Attribute) and node.attr.isupper())
    named = ((root.id, *path) for root, path in found if root is not None and names.is_under_test(root))
    return [*dict.fromkeys(named)]


def _absent(source: str) -> list[str]:
    """Return the plain values that the tests assert to be absent from something, as source."""
    names = names_in(source)
    found: list[object] = []
    for node in names.nodes:
        match node:
            case (
                ast.Compare(left=item, ops=[ast.NotIn()])
                | ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=item, ops=[ast.In()]))
                | ast.Call(func=ast.Attribute(attr="assertNotIn"), args=[item, *_])
            ):
                values = names.values_of(item) if isinstance(item, ast.Name) else [item]
                found += [each for value in values for each in literal_value(value or "") or ()]
    return [*dict.fromkeys(repr(each) for each in found if isinstance(each, str | bytes | int | float))]


def _is_wanted(node_id: str, wanted: Container[str]) -> bool:
    file, _, name = node_id.partition("::")
    return file == TESTS_FILE and (name in wanted or belonging(name) in wanted)
