"""Property tests that would try nothing, or hide a failure, are refused; what is merely set otherwise is not."""

from __future__ import annotations

import pytest

from agents.records import Test
from agents.verifier.static.gate import examine

HEAD = (
    "import hypothesis\nfrom hypothesis import HealthCheck, Phase, assume, example, given, settings\n"
    "from hypothesis import strategies as st\nfrom user_code import f\n"
)
GIVEN = "@given(st.lists(st.integers()))\ndef test_a(arr):\n"
BODY = f"{GIVEN}    assert f(arr) == sorted(arr)\n"

HONEST = {
    "plain": BODY,
    "settings that the test process replaces": f"@settings(phases=[], max_examples=NUMBER)\n{BODY}",
    "settings": f"@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))\n{BODY}",
    "every phase": f"@settings(phases=list(Phase))\n{BODY}",
    "phases that generate": f"@settings(phases=(Phase.explicit, Phase.generate))\n{BODY}",
    "an example": f"@example([2, 1])\n{BODY}",
    "an assumption on the input": f"{GIVEN}    assume(arr)\n    assert f(arr)[0] == min(arr)\n",
    "the module's own names": (
        "@hypothesis.given(hypothesis.strategies.integers())\ndef test_a(n):\n    assert f(n) > n\n"
    ),
}
GRAVE = {
    "an example expected to fail": f"@example([2, 1]).xfail()\n{BODY}",
    "internals by the module": f"hypothesis.internal.charmap.categories()\n{BODY}",
    "another profile": f"settings.load_profile('mine')\n{BODY}",
    "another inner test": f"{BODY}test_a.hypothesis.inner_test = print\n",
    "settings by the back door": f"{BODY}test_a._hypothesis_internal_use_settings = settings(max_examples=1)\n",
    "one recorded example": f"from hypothesis import reproduce_failure\n@reproduce_failure('6.1', b'AA')\n{BODY}",
    "the same by the module": f"@hypothesis.reproduce_failure('6.1', b'AA')\n{BODY}",
    "its internals": f"from hypothesis.internal.conjecture import engine\n{BODY}",
}


def written(source: str) -> Test:
    return Test("test_a", source, "generated", HEAD)


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_an_honest_property_is_accepted(source: str) -> None:
    assert examine(written(source)) is None


@pytest.mark.parametrize("source", GRAVE.values(), ids=GRAVE.keys())
def test_a_property_that_disables_itself_is_refused(source: str) -> None:
    assert examine(written(source)) is not None
