"""CodeWriter: spec -> candidates."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from ..records import Candidate, CandidateOrigin, Message, Reply, Request, Spec, fingerprint
from ..reply import read_code
from .ask import Ask, ReplyLengths, ask_until_readable
from .prefill import beginning, whole
from .prompt import messages, with_all_examples


@dataclass(frozen=True, slots=True)
class CodeWriter:
    """Drafts `user_code.py` from the spec alone: the first draft at temperature 0, the others warmer.

    With `begin` the reply is begun for the model (see prefill.py), which only goes on with it.
    """

    ask: Ask
    lengths: ReplyLengths
    _: KW_ONLY
    temperature: float
    seed: int
    begin: bool = False

    def draft(self, spec: Spec, number: int, round_number: int) -> Candidate:
        """Draft `number` (from 0); one after the first round is told of answers that came later.

        Raises ReplyError when no module can be read out of the replies.
        """
        told = spec if round_number == 1 else with_all_examples(spec)
        begun = beginning(told) if self.begin else ""
        request = Request(
            role="code_writer",
            messages=messages(told, "code_writer") + ((Message("assistant", begun),) if begun else ()),
            max_tokens=self.lengths.code,
            temperature=0.0 if number == 0 else self.temperature,
            seed=self.seed + number,
            purpose=f"draft {number + 1}",
        )
        origin: CandidateOrigin = "draft" if round_number == 1 else "redraft"

        def ask(request: Request) -> Reply:
            reply = self.ask(request)
            begins = request.messages[-1].role == "assistant"
            return replace(reply, text=whole(begun, reply.text)) if begins else reply

        return ask_until_readable(
            ask, request, lambda reply: read_candidate(reply, spec, origin, round_number, f"draft{number}")
        )


def read_candidate(
    reply: Reply, spec: Spec, origin: CandidateOrigin, round_number: int, label: str, parent: str | None = None
) -> Candidate:
    """The candidate in a reply; its id is `label` and a fingerprint of its code. Raises ReplyError."""
    module = read_code(reply.text, spec, truncated=reply.finish != "stop")
    return Candidate(
        id=f"{label}-{fingerprint(module.code)}",
        code=module.code,
        origin=origin,
        round=round_number,
        parent=parent,
        mended=module.mended,
    )
