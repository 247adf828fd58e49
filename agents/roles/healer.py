"""Healer: a failing place and its symptom -> a patch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from ..errors import ReplyError
from ..records import Message, Reply, Request
from ..records.heal import Item, Patch, Place, Symptom
from ..reply.parseable import blocks, make_parseable
from ..syntax.changes import changed_lines, changed_nodes
from ..syntax.encoding import encoded
from ..syntax.source import program, statements
from ..syntax.units import replaced, text_of
from .ask import CORRECTION_TEMPERATURE, Ask, ReplyLengths
from .outline import beside
from .prompt import PYTHON, render

CHARACTERS_PER_TOKEN = 3
"""A lower bound for Python code."""
_PROMPT_PER_TOKEN = 6
"""Characters of a prompt for each token of a reply: 6,144 for 1,024 tokens, of which half is the place."""
TEMPERATURE = 0.8
"""Of every patch but the first, which is at 0."""
_HOTTER = 0.2
_HOTTEST = 1.4
"""Added for each reply that repeats a patch, and the highest temperature."""
SHOWN_ITEMS = 3
_MOST_SYMPTOM = 1500
_MOST_ITEM = 600
_MOST_EARLIER = 2
_MOST_OUTLINE = 800
_MOST_VALUES = 600


@dataclass(frozen=True, slots=True)
class Healer:
    """Rewrites a place from its text and its symptom. A patch has the whole text of the changed file."""

    ask: Ask
    lengths: ReplyLengths
    _: KW_ONLY
    seed: int
    python: str = PYTHON
    prompt_extra: str = ""
    values: bool = True
    """False keeps arguments and locals out of the prompt."""
    anew: bool = False
    """For small models: every second patch of a function with failing tests is written without seeing its body."""

    @property
    def longest(self) -> int:
        """Characters of the longest place that fits into a reply."""
        return self.lengths.code * CHARACTERS_PER_TOKEN

    def patch(
        self,
        files: Mapping[str, str],
        task: str,
        place: Place,
        symptom: Symptom,
        earlier: Mapping[str, str],
        number: int,
        *,
        repeats: int = 0,
    ) -> Patch:
        """Return patch `number` (from 1) for a place of `files`. `earlier` are texts of the place that were tried,
        with their outcomes; `repeats` counts replies that repeated a patch. Raises ReplyError where no patch can
        be read from two replies, and the errors of `ask`."""
        code = text_of(files[place.path], place).rstrip("\n")
        items = symptom.items[:SHOWN_ITEMS]
        tests = [item for item in items if "\n" in item.source.strip()]
        head = head_of(code) if self.anew and number % 2 == 0 and tests else ""
        parts: dict[str, Any] = {
            "earlier": list(earlier.items())[-_MOST_EARLIER:],
            "outline": beside(place.path, place.name, code, files, _MOST_OUTLINE)
            if head or place.unit != "file"
            else "",
            "values": self._shown_values(symptom),
            "items": [_shown_item(each, "") for each in tests] if head else [_shown_item(each) for each in items],
        }
        fixed = {
            "task": task,
            "symptom": _shown_symptom(symptom),
            "place": place,
            "code": head or code,
            "extra": self.prompt_extra,
        }
        user = render("heal_anew" if head else "heal", **parts, **fixed)
        for name in ("earlier", "earlier", "outline", "values", "items", "items") if not head else ():
            if len(user) > self.lengths.code * _PROMPT_PER_TOKEN:  # drop the first of a list, or a whole text
                parts[name] = parts[name][1:] if name in ("earlier", "items") else parts[name][:0]
                user = render("heal", **parts, **fixed)
        first = number == (2 if head else 1)
        request = Request(
            role="healer",
            messages=(Message("system", render("heal_system", python=self.python)), Message("user", user)),
            max_tokens=self.lengths.code,
            temperature=0.0 if first else min(_HOTTEST, round(TEMPERATURE + _HOTTER * repeats, 1)),
            seed=self.seed + number,
            purpose=f"patch {number}",
        )
        reply = self.ask(request)
        try:
            return read_patch(reply, files, place, f"patch{number}")
        except ReplyError as reason:
            return read_patch(self.ask(_correction(request, str(reason), place)), files, place, f"patch{number}")

    def _shown_values(self, symptom: Symptom) -> list[str]:
        lines: list[str] = []
        room = _MOST_VALUES
        for frame in symptom.frames[:2] if self.values else ():
            for name, value in frame.values.items():
                line = f"{frame.function}: {name} = {value}"
                if len(line) < room:
                    room -= len(line)
                    lines.append(line)
        return lines


def read_patch(reply: Reply, files: Mapping[str, str], place: Place, patch_id: str) -> Patch:
    """Return the patch in a reply. Raises ReplyError with the reason where there is none."""
    truncated = reply.finish != "stop"
    found = [block for block in blocks(reply.text.replace("\0", ""), truncated=truncated) if block.text.strip()]
    if not found:
        raise ReplyError("it holds no code block")
    text = files[place.path]
    reasons = []
    for block in sorted(found, key=lambda block: place.name.rpartition(".")[2] not in block.text):
        mended = make_parseable(block.text, cut_off=truncated and not block.closed)
        if mended.lost or not mended.code.strip():
            reasons.append(f"the code is not whole or not Python ({mended.reason or 'it was cut off'})")
            continue
        try:
            new = replaced(text, place, mended.code)
            encoded(new, text.encode("utf-8", "surrogatepass"))
        except ValueError as error:
            reasons.append(str(error))
            continue
        if program(new) == program(text):
            reasons.append("it is the program as it was, which fails")
            continue
        return Patch(patch_id, place, {place.path: new}, changed_nodes(text, new), changed_lines(text, new))
    raise ReplyError(reasons[0])


def head_of(code: str) -> str:
    """Return the header and docstring of the function that `code` is, with `...` as its body; else empty."""
    match statements(code):
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as node]:
            first = node.body[0]
            last = first.lineno - 1 if ast.get_docstring(node, clean=False) is None else first.end_lineno or 0
            if last >= node.lineno:
                return "\n".join([*code.split("\n")[:last], " " * (first.col_offset or 4) + "..."])
    return ""


def _correction(request: Request, reason: str, place: Place) -> Request:
    """Return the request with `reason` added; without the reply, for which a small context has no room."""
    system, user = request.messages
    wanted = {"file": "the whole corrected file", "statements": "the corrected lines"}
    whole = wanted.get(place.unit, f"the whole {place.unit} `{place.name}`")
    complaint = f"A reply to this could not be used: {reason}. Answer with {whole} in one Python code block."
    return replace(
        request,
        messages=(system, Message("user", f"{user.content}\n\n{complaint}")),
        temperature=request.temperature or CORRECTION_TEMPERATURE,
        seed=request.seed + 1,
    )


def _shown_symptom(symptom: Symptom) -> str:
    text = symptom.traceback.strip() or symptom.summary
    if len(text) > _MOST_SYMPTOM:
        text = f"{text[:200]}\n…\n{text[-_MOST_SYMPTOM + 200 :]}"
    return f"```\n{text}\n```"


def _shown_item(item: Item, detail: str | None = None) -> str:
    source = item.source[:_MOST_ITEM].strip()
    shown = f"```python\n{source}\n```\n" if "\n" in source else ""
    return f"{item.name}: {shown}{(item.detail if detail is None else detail)[:_MOST_ITEM]}"
