"""An agent: a model that calls one tool a step, and is shown what each returned.

No native tool parameter is used (local servers differ): the first JSON object of a reply is the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..records import Message, Reply, Request

STEPS = 6
FINAL = "replacement"
"""The tool that ends the work."""
MOST_CHARACTERS = 7500
"""Of a prompt, about 2,500 tokens: the oldest steps are left out of it."""
_MOST_ARGUMENTS = 8000
_AGAIN = (
    "Now let's retry: take care not to repeat previous errors! If you have retried several times, try a "
    "completely different approach."
)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with its parameters, all texts. The model is shown what `call` returns, or its ValueError."""

    name: str
    description: str
    parameters: tuple[str, ...]
    call: Callable[..., str]


def run_agent(
    ask: Callable[[Request], Reply], first: Request, tools: Sequence[Tool], final: Callable[[str], Result]
) -> Result | None:
    """Let the model use `tools`, from the system prompt and the task in `first` on, until `final` takes the code
    that it ends with; return the result of that, None where no step ended so.

    A ValueError of `final` is told the model, as with a tool; what else is raised ends the work.
    """
    steps: list[tuple[Message, Message]] = []
    for number in range(1, STEPS + 1):
        left = STEPS - number
        urged = f"{left} more steps after this one." if left else f"This is the last step: call {FINAL}."
        *before, last = _bounded(first.messages, steps)
        messages = (*before, replace(last, content=f"{last.content}\n\n{urged}"))
        purpose = f"debugger's step {number}"
        said = ask(replace(first, messages=messages, seed=first.seed + number, purpose=purpose)).text
        try:
            name, arguments = _call_in(said)
            if name == FINAL:
                return final(arguments.get("code", ""))
            shown = f"Observation:\n{_called(name, arguments, tools).strip()}"
        except ValueError as fault:
            shown = f"Error:\n{fault}\n{_AGAIN}\n"
        steps.append((Message("assistant", said.strip()), Message("user", shown)))
    return None


def _bounded(first: Sequence[Message], steps: Sequence[tuple[Message, Message]]) -> list[Message]:
    """The first messages, and as many of the last steps as fit; the last one however long all is."""
    room = MOST_CHARACTERS - sum(len(message.content) for message in first)
    kept: list[Message] = []
    for step in reversed(steps):
        room -= sum(len(message.content) for message in step)
        if room < 0 and kept:
            break
        kept = [*step, *kept]
    return [*first, *kept]


def _called(name: str, arguments: Mapping[str, str], tools: Sequence[Tool]) -> str:
    """Call a tool. Raises ValueError, saying what is wanted."""
    tool = next((each for each in tools if each.name == name), None)
    if tool is None:
        names = ", ".join(each.name for each in tools)
        raise ValueError(f"Unknown tool {name}, should be one of: {names}, {FINAL}.")
    if arguments.keys() != set(tool.parameters):
        raise ValueError(f"The arguments of {name} are {', '.join(tool.parameters)}.")
    return tool.call(**arguments)


def _call_in(text: str) -> tuple[str, dict[str, str]]:
    """The tool and the arguments of the first JSON object in a text. Raises ValueError, saying what is wanted."""
    wanted = 'answer with one JSON object: {"tool": NAME, "arguments": {...}}'
    decoder = json.JSONDecoder(strict=False)  # models write line breaks into strings as they are
    place = text.find("{")
    while place >= 0:
        try:
            found, _ = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        name, arguments = found.get("tool"), found.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise ValueError(wanted)
        texts = {
            str(key): value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()
        }
        if sum(map(len, texts.values())) > _MOST_ARGUMENTS:
            raise ValueError(f"the arguments have more than {_MOST_ARGUMENTS} characters; write less")
        return name, texts
    raise ValueError(f"there is no JSON object in the reply; {wanted}")
