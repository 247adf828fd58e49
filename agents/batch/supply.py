"""Dependencies between entries: their order, and the code of one as a module for another."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import InitVar, dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from ..errors import UsageError
from ..records import UserModule, fingerprint
from ..settings import RequiredGrade
from ..spec.modules import is_reserved
from ..storage.run_directory import RunDirectory
from .journal import Journal
from .labels import has_reached, label_of
from .records import Entry, EntryResult, Task


def module_name(entry_id: str) -> str:
    """Return the name by which other specs import the code of an entry: `bank_account` for `bank-account`."""
    name = re.sub(r"\W", "_", entry_id)
    name = name if name[0].isalpha() or name[0] == "_" else f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def check_needs(entries: Collection[Entry]) -> None:
    """Raise UsageError where entries depend on each other in a circle, or one can't be imported by its name."""
    try:
        TopologicalSorter({entry.id: entry.needs for entry in entries}).prepare()
    except CycleError as error:
        circle = " needs ".join(f"`{each}`" for each in reversed(error.args[1]))
        raise UsageError(f"Specs need each other in a circle: {circle}; take one out of `with:`.") from error
    names: dict[str, str] = {}
    for entry in entries:
        for need in entry.needs:
            name = module_name(need)
            if name in sys.stdlib_module_names or is_reserved(name):
                reason = f"the spec `{need}` would be imported as `{name}`, which is there already"
                raise UsageError(f"{entry.where}: {reason}; give it another id.")
            if names.setdefault(name, need) != need:
                raise UsageError(
                    f"{entry.where}: the specs `{need}` and `{names[name]}` would both be imported as `{name}`; "
                    "give one another id."
                )
            if entry.spec is not None and any(module.name == name for module in entry.spec.modules):
                raise UsageError(
                    f"{entry.where}: a module and the spec `{need}` are both named `{name}`; rename one."
                )


def in_order(entries: Collection[Entry]) -> list[Entry]:
    """Return the entries, each after those that it needs."""
    found = {entry.id: entry for entry in entries}
    order = TopologicalSorter({entry.id: entry.needs for entry in entries}).static_order()
    return [found[each] for each in order if each in found]


def group_keys(entries: Collection[Entry]) -> dict[str, str]:
    """Return for each entry a key that all connected by dependencies share: the least of their ids."""
    keys = {entry.id: entry.id for entry in entries}

    def key(entry_id: str) -> str:
        while keys[entry_id] != entry_id:
            entry_id = keys[entry_id]
        return entry_id

    for entry in entries:
        for need in entry.needs:
            first, second = sorted((key(entry.id), key(keys.setdefault(need, need))))
            keys[second] = first
    return {entry.id: key(entry.id) for entry in entries}


@dataclass(slots=True)
class Supplier:
    """Supplies the `entries` of the batch in `directory` with the code of those that they need, once these have
    the `required` grade. `digest` makes the digest of a supplied entry; unless `redo`, an entry that another model
    has finished keeps that digest."""

    directory: Path
    entries: InitVar[Sequence[Entry]]
    journal: Journal
    digest: Callable[[Entry], str]
    required: RequiredGrade
    redo: bool = field(default=False, kw_only=True)
    digests: dict[str, str] = field(init=False, default_factory=dict)
    """The digest of each entry; it depends on the code of needed entries, once that exists."""
    others: dict[str, EntryResult] = field(init=False, default_factory=dict)
    """Kept results of other models, by the ids of their entries."""
    _entries: dict[str, Entry] = field(init=False)

    def __post_init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        for entry in in_order(entries):
            self.renew(entry.id)

    def needs(self, entry_id: str) -> tuple[str, ...]:
        """Return the ids of the entries that an entry needs."""
        return self._entries[entry_id].needs

    def renew(self, entry_id: str) -> str:
        """Recompute an entry's digest, after entries that it needs may have ended, and return it."""
        entry = self._entries[entry_id]
        own, *rest = self.digest(entry).split("-")
        if self.lacking(entry_id):
            rest[:1] = [fingerprint(f"{own} {rest} needs {' '.join(entry.needs)}")]
        else:
            _, *rest = self.digest(self.supplied(entry_id)).split("-")
        digest = "-".join((own, *rest))
        work, dash, _ = digest.rpartition("-")
        of_another = work + dash if "-" in work and not self.redo else digest
        finished = self.journal.finished(entry_id, digest) or self.journal.finished(entry_id, of_another)
        self.others.pop(entry_id, None)
        if finished is not None and finished.digest != digest:
            self.others[entry_id] = finished
            digest = finished.digest
        self.digests[entry_id] = digest
        return digest

    def lacking(self, entry_id: str) -> str:
        """Return why an entry can't begin, as a sentence; empty where all that it needs has the required grade."""
        for need in self.needs(entry_id):
            result = self.journal.result(need, self.digests[need]) if need in self.digests else None
            if result is None:
                ended = "could not be read" if need not in self._entries else "has no result"
            elif has_reached(result, self.required) and self._code(need) is not None:
                continue
            else:
                ended = f"ended {label_of(result)}"
            return f"It needs `{need}`, which {ended}."
        return ""

    def supplied(self, entry_id: str) -> Entry:
        """Return an entry with the code of all that it needs, directly or not, as modules."""
        entry = self._entries[entry_id]
        if entry.spec is None or not entry.needs:
            return entry
        needed = list(entry.needs)
        for need in needed:
            needed.extend(each for each in self._entries[need].needs if each not in needed)
        modules = list(entry.spec.modules)
        for need in needed:
            name = module_name(need)
            modules.append(UserModule(name, {f"{name}.py": self._code(need) or ""}))
            own = self._entries[need].spec
            modules.extend(module for module in (own.modules if own else ()) if module not in modules)
        return replace(entry, spec=replace(entry.spec, modules=tuple(modules)))

    def _code(self, entry_id: str) -> str | None:
        """Return the code of an entry's run, not the copy in its folder, which a user may have edited."""
        task = Task(self._entries[entry_id], self.digests[entry_id])
        return RunDirectory(self.directory / task.run).code()
