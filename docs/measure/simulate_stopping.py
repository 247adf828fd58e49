"""How often a wrong behaviour is claimed by the rule that says when to stop drafting: exact, no model, no chance.

Each draft shows one wrong behaviour with probability p, and otherwise something else. A rule looks at the first
drafts and stops where all are alike; otherwise it draws a fixed number and claims what a share of all of them
does. Printed: the probability that the wrong behaviour is claimed, for `python -m docs.measure.simulate_stopping`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import ceil, prod

SHARE = 0.85
LIKELIHOODS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
Rule = Callable[[Sequence[bool]], bool]


def claimed(rule: Rule, drafts: int, likelihood: float) -> float:
    """The probability that `rule` claims the behaviour that each of `drafts` shows with `likelihood`."""
    found = (each for each in product((True, False), repeat=drafts) if rule(each))
    return sum(prod(likelihood if shown else 1 - likelihood for shown in each) for each in found)


def rules(first: int, total: int, share: float) -> Iterator[tuple[str, Rule]]:
    """The looks of one rule, and what it is to be compared with."""
    needed = ceil(share * total - 1e-9)
    yield f"first look: {first} of {first}", lambda shown: all(shown[:first])
    yield (
        f"second look: {needed} of {total}",
        lambda shown: any(shown[:first]) and not all(shown[:first]) and sum(shown) >= needed,
    )
    yield "both looks", lambda shown: all(shown[:first]) or sum(shown) >= needed
    yield f"no early stop, {needed} of {total}", lambda shown: sum(shown) >= needed
    yield f"until any {first} of at most {total} agree", lambda shown: sum(shown) >= first


def main() -> None:
    """Print a table for medium and one for high effort."""
    for first, total in ((4, 5), (5, 8)):
        print(f"| {first} drafts, then {total} | {' | '.join(f'p = {p}' for p in LIKELIHOODS)} |")
        print("|---" * (len(LIKELIHOODS) + 1) + "|")
        for name, rule in rules(first, total, SHARE):
            shares = " | ".join(f"{claimed(rule, total, p):.3f}" for p in LIKELIHOODS)
            print(f"| {name} | {shares} |")
        print()


if __name__ == "__main__":
    main()
