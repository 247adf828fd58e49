"""smolagents' ToolCallingAgent on greenloop's own requests: one text request a step, with greenloop's tools.

Native tool calling is not used (local servers differ): the first JSON object of a reply is the call. The ids of
calls are numbered: they are part of the next prompt, and random ones would make each request different.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from ..errors import GreenloopError, ReplyError
from ..records import Message, Reply, Request
from .agent_task import AgentTask, AgentTool
from .litellm_import import no_dotenv
from .streaming_model import ChatMessage, MessageRole, Model, Tool

with no_dotenv():
    from smolagents.agents import EMPTY_PROMPT_TEMPLATES, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
    from smolagents.monitoring import AgentLogger, LogLevel
    from smolagents.utils import AgentError

FINAL = "replacement"
"""The tool that ends a debugger's work; smolagents calls it `final_answer`."""
_FINAL_ANSWER = "final_answer"
_MOST_ARGUMENTS = 8000


def run_agent(
    ask: Callable[[Request], Reply], tools: Sequence[AgentTool], replacement: Callable[[str], str], task: AgentTask
) -> None:
    """Run the agent with `tools`, step by step, until `replacement` accepts its final text.

    The model is shown a ValueError of `replacement`, as of a tool. Raises GreenloopError and ReplyError of `ask`
    and the tools.
    """
    model = _AskedModel(ask, task)
    templates = {**EMPTY_PROMPT_TEMPLATES, "system_prompt": task.instructions.replace("{", "{{ '{' }}")}
    final = AgentTool(_FINAL_ANSWER, "ends", {"answer": "the text"}, lambda answer: replacement(answer))
    agent = ToolCallingAgent(
        tools=[_tool(tool, model) for tool in (*tools, final)],
        model=model,
        prompt_templates=templates,
        max_steps=task.steps,
        logger=AgentLogger(level=LogLevel.OFF),
    )
    logging.getLogger("smolagents").setLevel(logging.CRITICAL)
    with suppress(AgentError):
        agent.run(task.task)
    if model.fault is not None:
        raise model.fault


class _AskedModel(Model):  # type: ignore[misc]
    """A Model that sends each step as one Request. Its errors end the agent instead of being shown to the
    model."""

    def __init__(self, ask: Callable[[Request], Reply], task: AgentTask) -> None:
        super().__init__(model_id="greenloop")
        self._ask = ask
        self._task = task
        self._steps = 0
        self.fault: GreenloopError | ReplyError | None = None

    def generate(
        self,
        messages: list[Any],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **_: Any,
    ) -> ChatMessage:
        """Ask for the next call; without tools, which is at the step limit, send no request."""
        if self.fault is not None:
            raise self.fault
        if tools_to_call_from is None:
            return ChatMessage(role=MessageRole.ASSISTANT, content="")
        self._steps += 1
        asked = list(self._bounded(list(_merged(messages))))
        left = self._task.steps - self._steps
        urged = f"{left} more steps after this one." if left else f"This is the last step: call {FINAL}."
        asked[-1] = replace(asked[-1], content=f"{asked[-1].content}\n\n{urged}")
        request = Request(
            role="critic",
            messages=tuple(asked),
            max_tokens=self._task.max_tokens,
            temperature=0.0,
            seed=self._task.seed + self._steps,
            purpose=f"debugger's step {self._steps}",
        )
        try:
            reply = self._ask(request)
        except (GreenloopError, ReplyError) as error:
            self.fault = error
            raise
        return ChatMessage(role=MessageRole.ASSISTANT, content=reply.text)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Return the message with its first JSON object as the call. Raises ValueError, shown to the model."""
        name, arguments = _call_in(str(message.content or ""))
        if name == FINAL:
            name, arguments = _FINAL_ANSWER, {"answer": arguments.get("code", "")}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        message.tool_calls = [ChatMessageToolCall(function=function, id=f"call_{self._steps}", type="function")]
        return message

    def _bounded(self, messages: list[Message]) -> Iterator[Message]:
        """Yield the system prompt, the task, and as many of the last steps as fit."""
        first, rest = messages[:2], messages[2:]
        room = self._task.most_characters - sum(len(message.content) for message in first)
        kept: list[Message] = []
        for message in reversed(rest):
            room -= len(message.content)
            if room < 0 and len(kept) >= 2:  # the last step stays even if it is too long
                break
            kept.insert(0, message)
        if kept and kept[0].role == "user":
            kept = kept[1:]  # an observation without its call
        yield from first
        yield from kept


def _merged(messages: Sequence[ChatMessage]) -> Iterator[Message]:
    """Yield smolagents' messages as greenloop's, with neighbours of one role merged, as chat templates want it;
    without its messages on calls, which repeat the reply before."""
    told = [(str(getattr(each.role, "value", each.role)), each.content) for each in messages]
    kept = [
        (kind if kind in ("system", "assistant") else "user", said) for kind, said in told if kind != "tool-call"
    ]
    for role, group in groupby(kept, key=itemgetter(0)):
        yield Message(role, "\n\n".join(_text(said) for _, said in group))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content or [])


def _call_in(text: str) -> tuple[str, dict[str, str]]:
    """Return tool and arguments of the first JSON object in a text. Raises ValueError that says what is wanted."""
    wanted = 'answer with one JSON object: {"tool": NAME, "arguments": {...}}'
    decoder = json.JSONDecoder(strict=False)  # models don't escape line breaks in strings
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


def _tool(tool: AgentTool, model: _AskedModel) -> Tool:
    """Return `tool` as a smolagents Tool."""

    class Given(Tool):  # type: ignore[misc]
        name = tool.name
        description = tool.description
        inputs: ClassVar = {key: {"type": "string", "description": text} for key, text in tool.inputs.items()}
        output_type = "string"
        skip_forward_signature_validation = True

        def forward(self, **arguments: str) -> str:
            try:
                return tool.call(**arguments)
            except (GreenloopError, ReplyError) as error:
                model.fault = error
                raise

    return Given()
