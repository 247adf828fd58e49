"""A failing call, done again in the sandbox on changed source."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from agents.healing.call_process import (
    Callee,
    CallProcess,
    CallStopped,
    capture,
    home_of_method,
    located,
    project_files,
    unhealable,
)
from agents.healing.calls import CallCase
from agents.healing.heal import places
from agents.records.heal import Symptom
from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier.inside.proxy.plain import Unshareable

from ..support.modules_on_disk import imported

pytestmark = pytest.mark.thorough
SHOP = """\
import os
import asyncio
from dataclasses import dataclass

PRICES = []


class Odd(Exception):
    pass


def price(text):
    return float(text.replace("$", ""))


def drain(items):
    total = 0
    while items:
        total += items.pop()
    return total / len(items)


def where(path):
    PRICES.append(path)
    open(path, "w").close()
    return os.getpid()


def odd(text):
    raise Odd(text)


def thing(text):
    return object()


def leave(text):
    os._exit(3)


def hang(text):
    while True:
        pass


async def slowly(text):
    await asyncio.sleep(0)
    return price(text)


class Cart:
    rate = 2

    def __init__(self, items):
        self.items = items

    def add(self, item):
        self.items.append(item)
        return sum(self.items) / item

    @classmethod
    def twice(cls, text):
        return cls.rate * price(text)

    @staticmethod
    def once(text):
        return price(text)


def outer():
    def inner(text):
        return price(text)
    return inner


def closure(rate):
    def inner(text):
        return rate * price(text)
    return inner
"""
FIXED = SHOP.replace('text.replace("$", "")', 'text.lstrip("$₹").replace(",", "")')


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with imported(tmp_path_factory.mktemp("shop"), SHOP) as module:
        yield module


def case_of(function: Any, *args: Any, **expected: Any) -> CallCase:
    callee, path = located(function)
    call = capture(home_of_method(function), args, {})
    expected.setdefault("raised", ValueError)
    return CallCase(open_sandbox(), callee, project_files(path, callee), call, function, **expected)


def file_of(case: CallCase) -> str:
    return case.callee.path


def test_a_call_fails_inside_as_it_did_here(shop: ModuleType) -> None:
    seen = case_of(shop.price, "₹1,299").observe({})
    assert seen.symptom is not None
    assert seen.symptom.kind == "exception"
    assert seen.symptom.summary == "ValueError: could not convert string to float: '₹1,299'"
    (frame,) = seen.symptom.frames
    assert (frame.function, frame.values) == ("price", {"text": "'₹1,299'"})
    assert frame.line == inspect.getsourcelines(shop.price)[1] + 1


def test_its_value_on_a_patch_comes_back(shop: ModuleType) -> None:
    case = case_of(shop.price, "₹1,299")
    assert case.observe({file_of(case): FIXED}).symptom is None
    assert case.value({file_of(case): FIXED}) == 1299.0


def test_an_argument_that_the_call_changed_is_replayed_as_it_was(shop: ModuleType) -> None:
    items = [1, 2, 3]
    case = case_of(shop.drain, items)
    with pytest.raises(ZeroDivisionError):
        shop.drain(items)
    assert items == []
    patch = SHOP.replace("total / len(items)", "total / 3").replace("while items:", "for item in items:")
    assert case.value({file_of(case): patch.replace("items.pop()", "item")}) == 2.0
    assert items == [1, 2, 3]  # as the call that gave the value left it


def test_what_the_patched_call_changes_is_changed_here(shop: ModuleType) -> None:
    cart = shop.Cart([1])
    case = case_of(shop.Cart.add, cart, 2)
    held = cart.items
    assert case.value({}) == 1.5
    assert cart.items is held
    assert held == [1, 2]


def test_it_runs_in_another_process_and_leaves_nothing_here(shop: ModuleType, tmp_path: Path) -> None:
    path = str(tmp_path / "left")
    case = case_of(shop.where, "/box/left")
    assert case.value({}) != os.getpid()
    assert case_of(shop.where, path).observe({}).symptom is not None
    assert shop.PRICES == []
    assert not Path(path).exists()


@pytest.mark.parametrize("call", ["slowly", "Cart.once", "Cart.twice", "outer"])
def test_each_kind_of_function_can_be_called(shop: ModuleType, call: str) -> None:
    functions: dict[str, Callable[[], CallCase]] = {
        "slowly": lambda: case_of(shop.slowly, "$3"),
        "Cart.once": lambda: case_of(shop.Cart.once, "$3"),
        "Cart.twice": lambda: case_of(shop.Cart.twice.__func__, shop.Cart, "$3"),
        "outer": lambda: case_of(shop.outer(), "$3"),
    }
    assert functions[call]().value({}) == (6.0 if call == "Cart.twice" else 3.0)


def test_tests_call_into_the_sandbox(shop: ModuleType) -> None:
    def right(price: Any) -> None:
        assert price("₹1,299") == 1299.0

    def refuses(price: Any) -> None:
        with pytest.raises(ValueError, match="could not convert"):
            price("x")

    case = case_of(shop.price, "₹1,299", tests=(right, refuses))
    seen = case.observe({})
    assert seen.symptom is not None
    assert [item.name for item in seen.symptom.items] == ["right"]
    assert case.observe({file_of(case): FIXED}).symptom is None
    other = case.observe({file_of(case): SHOP.replace('float(text.replace("$", ""))', "0.0")})
    assert other.symptom is not None
    assert [item.name for item in other.symptom.items] == ["right", "refuses"]


def test_an_exception_of_the_modules_own_is_one_of_its_class(shop: ModuleType) -> None:
    def raises(odd: Any) -> None:
        with pytest.raises(shop.Odd, match="hello"):
            odd("hello")

    seen = case_of(shop.odd, "x", tests=(raises,)).observe({})
    assert seen.symptom is not None
    assert seen.symptom.items == ()


def test_verify_sees_the_value(shop: ModuleType) -> None:
    case = case_of(shop.price, "$3", verify=lambda value: value > 5)
    seen = case.observe({})
    assert seen.symptom is not None
    assert [item.name for item in seen.symptom.items] == ["verify"]


@pytest.mark.parametrize(
    ("name", "says"), [("leave", "exit code 3"), ("hang", "did not return"), ("thing", "is no plain data")]
)
def test_what_is_no_answer_is_a_symptom(shop: ModuleType, name: str, says: str) -> None:
    case = case_of(getattr(shop, name), "x", limits=SandboxLimits(wall_seconds=3))
    seen = case.observe({})
    assert seen.symptom is not None
    assert says in seen.symptom.summary
    with pytest.raises(CallStopped):
        case.value({})


def test_what_cannot_be_done_again_is_said(shop: ModuleType, tmp_path: Path) -> None:
    assert "closure over rate" in (unhealable(shop.closure(2)) or "")
    assert "lambda" in (unhealable(lambda: 1) or "")
    with (tmp_path / "open").open("w") as file, pytest.raises(Unshareable, match="no plain data"):
        capture(None, (file,), {})
    with pytest.raises(Unshareable, match="KiB"):
        capture(None, (list(range(100_000)),), {})
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(Unshareable, match="KiB"):
        capture(None, (cyclic,), {})


def test_a_module_is_run_up_to_the_statement_that_makes_the_call(tmp_path: Path) -> None:
    source = "def f(x):\n    return 1 / x\n\nvalue = f(0)\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    scope: dict[str, Any] = {"__name__": "program"}
    with pytest.raises(ZeroDivisionError):
        exec(compile(source, str(path), "exec"), scope)
    function: FunctionType = scope["f"]
    case = case_of(function, 0, line=4)
    patch = "import math\n" + source.replace("1 / x", "1 / x if x else math.inf")
    assert case.value({"program.py": patch}) == float("inf")
    assert case_of(function, 2, line=4).value({}) == 0.5


def test_a_call_that_fails_otherwise_inside_is_said_to_do_so(shop: ModuleType) -> None:
    def price(text: Any) -> None:
        assert text

    assert case_of(shop.price, "x").observe({}).environment is None
    assert case_of(shop.odd, "x", raised=shop.Odd).observe({}).environment is None
    assert case_of(shop.price, "$3", raised=None, tests=(price,)).observe({}).environment is None
    otherwise = case_of(shop.price, "x", raised=KeyError).observe({}).environment
    assert otherwise is not None
    assert "fails otherwise" in otherwise
    assert "does not fail" in (case_of(shop.price, "$3").observe({}).environment or "")


def test_a_statement_that_fails_inside_is_left_out(tmp_path: Path) -> None:
    lines = (tmp_path / "lines.txt").write_text("1")
    source = (
        f"with open({str(tmp_path / 'lines.txt')!r}) as f:\n    f.read()\n\ndef double(x):\n    return 2 * x\n"
    )
    with imported(tmp_path, source) as module:
        assert lines == 1
        assert case_of(module.double, 2).value({}) == 4


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        '["return"]',
        '["return", 5]',
        '["return", [["y", 2], [], []]]',
        '["return", [["@", 999], [], []]]',
        '["return", [["T", "os", "system"], [], []]]',
        '["return", [["C", ["T", "builtins", "list"]], [], []]]',
        '["return", [["o", 1, ["T", "builtins", "object"], null], [], []]]',
        '["return", [["o", 3, ["K", 5, {"name": "A", "specials": [], "methods": []}, []], null], [], []]]',
        '["raise", 3]',
        '["raise", {"module": "", "name": "E", "message": "", "traceback": ""}]',
        '["elsewhere", {}]',
        "[" * 100_000,
    ],
)
def test_what_the_code_writes_to_the_channel_is_plain_data_or_nothing(shop: ModuleType, answer: str) -> None:
    forged = f"""
import gc
import time

def price(text):
    channel = next(each for each in gc.get_objects() if type(each).__name__ == "FrameSocket")
    channel.send(b"A", {answer!r}.encode())
    time.sleep(60)
"""

    def calls(price: Any) -> None:
        price("$1")

    case = case_of(shop.price, "x", verify=lambda value: True, limits=SandboxLimits(wall_seconds=5))
    assert case.observe({file_of(case): forged}).symptom is not None
    with pytest.raises(CallStopped):
        case.value({file_of(case): forged})
    tested = case_of(shop.price, "x", tests=(calls,), limits=SandboxLimits(wall_seconds=5))
    assert tested.observe({file_of(case): forged}).symptom is not None


def test_a_nan_comes_back(shop: ModuleType) -> None:
    nan = float("nan")
    case = case_of(shop.price, "x")
    value = case.value({file_of(case): SHOP.replace('float(text.replace("$", ""))', "[float('nan'), text]")})
    assert value[0] != value[0]
    same = case_of(shop.price, nan)
    assert same.value({file_of(case): SHOP.replace('float(text.replace("$", ""))', "text")}) is nan


def test_frames_of_a_module_in_a_folder_called_inside_are_told() -> None:
    path = "inside_out/inside/half.py"
    files = {path: b"def f(x):\n    return 1 / x\n"}
    callee, call = Callee("inside_out.inside.half", path, "f"), capture(None, (0,), {})
    limits = SandboxLimits(wall_seconds=30)
    with CallProcess(open_sandbox("none"), callee, files, limits, lambda: False) as process:
        how, told = process.call(call)
    assert how == "raise"
    assert [(frame["path"], frame["line"]) for frame in told["errors"][0]["frames"]] == [(path, 2)]


def test_of_a_long_module_the_function_that_is_called_is_the_place(tmp_path: Path) -> None:
    others = "".join(f"\n\ndef other{number}(x):\n    return x * {number}\n" for number in range(100))
    with imported(tmp_path, f"import os\n\n\ndef first(x):\n    return x\n{others}") as module:
        function = module.first
        callee, path = located(function)
        sandbox = open_sandbox()
        sandbox.close()
        call = capture(None, (1,), {})
        case = CallCase(
            sandbox, callee, project_files(path, callee), call, function, verify=lambda value: value == 2
        )
        (found,) = places(case, Symptom("tests", "verify: it returned False"), {}, 600)
    assert found.name == "first"
