from __future__ import annotations

import pytest

from agents.errors import ReplyError
from agents.reply import read_code
from agents.reply.faults import class_fault
from agents.spec import read_spec

SPEC = read_spec("Implement a class Stack with push(item), pop() and size().", origin="argument")
HEAD = "class Stack:\n    def __init__(self):\n        self.items = []\n"
REST = "    def pop(self):\n        return self.items.pop()\n    def size(self):\n        return len(self.items)\n"


def stack(push: str = "    def push(self, item):\n        self.items.append(item)\n", rest: str = REST) -> str:
    return f"{HEAD}{push}{rest}"


def test_a_class_that_has_what_the_spec_names_has_no_fault() -> None:
    assert class_fault(stack(), SPEC) is None


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (stack().replace("self.items = []", "self.items = []\n        self.size = 0"), "hides the method `size`"),
        (stack(rest="    def pop(self):\n        return 1\n"), "the spec names `size`"),
    ],
)
def test_a_fault_that_shows_without_running_is_a_reason_to_ask_again(code: str, fault: str) -> None:
    with pytest.raises(ReplyError, match=r".") as refused:
        read_code(f"```python\n{code}```", SPEC, truncated=False)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    "code",
    [
        stack(rest="    def pop(self):\n        return 1\n    @property\n    def size(self):\n        return 0\n"),
        stack().replace("def size(self)", "def __size__(self)"),
        stack().replace("self.items = []", "self.items = []\n        self.sizes = 0"),
    ],
)
def test_a_name_in_another_form_is_no_fault(code: str) -> None:
    assert class_fault(code, SPEC) is None


def test_functions_are_not_looked_at() -> None:
    assert (
        class_fault("def f(n):\n    return n\n", read_spec("Write f(n) with help_me(x).", origin="argument"))
        is None
    )


@pytest.mark.parametrize(
    "said",
    [
        "It is built on a `list`, items are `int` or `str`, and push returns `self`.",
        "Do not use list.pop(0), `collections` or sorted().",
    ],
)
def test_what_a_spec_says_of_other_names_is_no_fault(said: str) -> None:
    spec = read_spec(
        f"Implement a class Stack with push(item), set(place, item), pop() and size(). {said}", origin="argument"
    )
    assert class_fault(stack() + "    def set(self, place, item):\n        pass\n", spec) is None


@pytest.mark.parametrize("base", ["@dataclass\nclass Stack", "class Stack(UserList)"])
def test_what_a_class_is_given_is_no_fault(base: str) -> None:
    spec = read_spec(
        "Implement a class Stack with push(item), pop() and size(). `repr` shows it.", origin="argument"
    )
    code = stack().replace("class Stack", base)
    assert class_fault(code, spec) is None
    assert "`repr`" in (class_fault(stack(), spec) or "")


@pytest.mark.parametrize(
    "said", ["`iter(stack)` gives the items.", "`bool(stack)` is False.", "`hash(stack)` works."]
)
def test_what_python_does_without_a_method_of_that_name_is_no_fault(said: str) -> None:
    wanted = read_spec(f"{SPEC.text} {said}", origin="argument")
    assert class_fault(stack(rest=f"{REST}    def __getitem__(self, at):\n        return 1\n"), wanted) is None
