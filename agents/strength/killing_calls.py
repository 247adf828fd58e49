"""Finds calls on which the code and its surviving mutants differ: the gaps of a suite, shown without code. If
other drafts return what the code returns, such a call becomes a test that kills."""

from __future__ import annotations

import ast
import random
from collections.abc import Container, Iterator, Sequence
from functools import partial

from ..judge.claims import ValueClaim, as_test, claim_of
from ..judge.probes import literal_calls, probed_call, probes, probes_of, varied_calls
from ..records import Board, Survivor, Test, fingerprint
from ..syntax.literals import is_literal, same_value
from ..syntax.source import parse
from ..verifier.cached_verifier import CachedVerifier
from .measure import as_candidate, passing, patience
from .mutants import mutants_of

MOST_CALLS = 4
MOST_TRIED = 48
LONGEST_ANSWER = 200


def killing_calls(
    code: str,
    survivors: Sequence[Survivor],
    tests: Sequence[Test],
    runner: CachedVerifier,
    *,
    most: int = MOST_CALLS,
    tried: int = MOST_TRIED,
) -> tuple[Test, ...]:
    """Return at most `most` tests of calls that together kill the most of `survivors`, best first.

    They expect what the code returns, which other drafts have yet to confirm. `tried` inputs are made from `tests`
    and the code's constants. Raises ValueError if the tests don't pass on the code, and SandboxBroken.
    """
    mutants = mutants_of(code, survivors)
    lines = {survivor.line for survivor in survivors}
    calls = _calls(code, lines, tests, tried) if mutants else ()
    if not calls:
        return ()
    # The code twice, as texts that differ: what it does not return again is no answer.
    texts = [code, f"{code}\n# again\n", *(mutant.code for mutant in mutants)]
    board = runner.hasty_board(
        [as_candidate(text) for text in texts], calls, patience(passing(code, tests, runner))
    )
    return tuple(_cover(board, most))


def _cover(board: Board, most: int) -> Iterator[Test]:
    """Greedy set cover: yield the call that kills the most of the mutants left, the shorter of two."""
    kills = {call: killed for call in board.tests if (killed := _killed(board, call))}
    for _ in range(most):
        best = max(kills, key=lambda call: (len(kills[call]), -len(call.source)), default=None)
        if best is None:
            return
        claim = claim_of(best)
        returned = board.verdicts[0].outcome(best.id).actual
        if claim is not None and returned is not None:
            name = f"test_{fingerprint(claim.call)[:8]}"
            yield as_test(ValueClaim(claim.call, returned), name, "settled", best.preamble)
        killed = kills[best]
        kills = {call: left for call, others in kills.items() if (left := others - killed)}


def _killed(board: Board, call: Test) -> frozenset[int]:
    """Return the mutants, by number, that do something else than the code on `call`."""
    first, again, *others = (verdict.outcome(call.id) for verdict in board.verdicts)
    returned = first.actual
    if returned is None or again.actual is None or len(returned) > LONGEST_ANSWER:
        return frozenset()
    if not is_literal(returned) or not same_value(returned, again.actual):
        return frozenset()
    differing = (
        other.status in ("error", "stopped") if other.actual is None else not same_value(returned, other.actual)
        for other in others
    )
    return frozenset(number for number, differs in enumerate(differing) if differs)


def _calls(code: str, lines: Container[int], tests: Sequence[Test], count: int) -> tuple[Test, ...]:
    """Return at most `count` probes: three quarters with the code's constants, those on `lines` first."""
    near = probes(tests, count)
    nearest, further = (
        {probed_call(each): each.preamble for each in found} for found in (near, probes(near, count))
    )
    with_constants: dict[str, str] = {}
    for constants in _constants(code, lines):
        made = varied_calls(literal_calls(tests), partial(_variants, constants))
        sources = sorted(made)
        random.Random(fingerprint(code)).shuffle(sources)
        with_constants |= {source: made[source] for source in sources}
    first = [*with_constants][: 3 * count // 4] + [*nearest][: count // 8]
    chosen = list(dict.fromkeys([*first, *further, *nearest]))[:count]
    preambles = nearest | with_constants | further
    return probes_of({source: preambles[source] for source in chosen})


def _constants(code: str, lines: Container[int]) -> tuple[list[object], list[object]]:
    """Return numbers and texts in the code, with numbers next to them: those on `lines`, and the others."""
    found: dict[tuple[type, object], bool] = {}
    for node in ast.walk(parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            value = node.value
            near = [value] if isinstance(value, bool | str) else [value, value + 1, value - 1, -value]
            for each in near:
                key = (type(each), each)
                found[key] = found.get(key, False) or node.lineno in lines
    here = [value for (_, value), on_lines in found.items() if on_lines]
    return here, [value for (_, value), on_lines in found.items() if not on_lines]


def _variants(constants: Sequence[object], value: object, _: Sequence[object] = ()) -> Iterator[object]:
    """Yield `value` with a constant in it or in its place, of the same type, and lists of another length."""
    for constant in constants:
        if isinstance(value, str) and isinstance(constant, str):
            yield from (constant, value + constant, constant + value, value[:1] + constant + value[1:])
        elif type(constant) is type(value):
            yield constant
    if isinstance(value, list):
        yield value[:-1]
        yield [*value, *value[-1:]]
        for at in sorted({0, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            for other in _variants(constants, value[at]):
                yield [*value[:at], other, *value[at + 1 :]]
