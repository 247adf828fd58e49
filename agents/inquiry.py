"""Inquiries: calls whose value is in doubt, to be put to the model, and the tests that the answers settle.

Distinguishing inputs, on which drafts that pass the same tests differ, are the idea of S* (arXiv 2502.14382).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .agreement import Agreement
from .claims import claim_of
from .probes import probed_call
from .records import LedgerEntry, Test, fingerprint
from .thresholds import MEASURED, Thresholds
from .votes import LONGEST_WHOLE, Opinions, count, rival_values


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`call` in doubt. `rivals` are the values that drafts return, most votes first; none where the call is a
    test's, whose writer is asked blindly once more."""

    call: str
    rivals: tuple[str, ...] = ()


def inquiries(agreement: Agreement, ledger: Sequence[LedgerEntry], opinions: Opinions) -> tuple[Inquiry, ...]:
    """What nobody was asked about yet: the calls of contested tests, then the shortest probes on which drafts
    differ."""
    claims = [claim_of(entry.test) for entry in ledger if entry.standing == "contested"]
    found = [Inquiry(claim.call) for claim in claims if claim is not None]
    for probe in _probes(agreement):
        values = rival_values(agreement, probe)
        if len(values) > 1:
            found.append(Inquiry(probed_call(probe), tuple(value for value, _ in values)))
    return tuple({inquiry.call: inquiry for inquiry in reversed(found) if inquiry.call not in opinions}.values())[
        ::-1
    ]


def settled_by_inquiry(
    agreement: Agreement, opinions: Opinions, thresholds: Thresholds = MEASURED
) -> tuple[Test, ...]:
    """A test for each probe whose value the drafts' and the opinions' votes decide; none twice."""
    present = {test.id for test in agreement.board.tests}
    settled = []
    for probe in _probes(agreement):
        call = probed_call(probe)
        name = f"test_settled_{fingerprint(call)[:8]}"
        asked = [value for value in opinions.get(call, ()) if value is not None]
        if not asked or name in present:
            continue
        rivals = [value for value, votes in rival_values(agreement, probe) for _ in range(votes)]
        counted = count([*rivals, *asked])
        value, votes = counted[0]
        if (
            value in rivals
            and len(value) <= LONGEST_WHOLE
            and votes >= thresholds.decisive * sum(votes for _, votes in counted)
        ):
            source = f"def {name}():\n    assert {call} == {value}\n"
            settled.append(Test(name, source, "settled", probe.preamble))
    return tuple(settled)


def _probes(agreement: Agreement) -> list[Test]:
    """The probes, the shortest call first."""
    probes = agreement.probes.tests if agreement.probes is not None else ()
    return sorted(probes, key=lambda probe: len(probe.source))
