"""The decorator `repair`, with a model that answers from a list."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agents import UsageError, repair
from agents.healing.call_process import MOST_BYTES
from agents.repairing.options import RepairEvent, RepairOptions
from agents.repairing.repair import repaired
from agents.repairing.repairs import SharedSandbox, install
from agents.sandbox import Job, Running, Sandbox, open_sandbox

from ..support.commands import ROOT
from ..support.modules_on_disk import imported
from ..support.proposers import Replies, three

SHOP = """\
import asyncio
import os

CALLS = []


def price(text):
    return float(text.replace("$", ""))


async def slowly(text):
    await asyncio.sleep(0)
    return float(text.replace("$", ""))


def last(items):
    items.reverse()
    return items[-len(items) - 1]


def fact(n):
    return 1 // 0 if n == 0 else n * fact(n - 1)


def numbers(n):
    yield 1
    raise KeyError(n)


def quits():
    raise SystemExit(3)


class Cart:
    def __init__(self, rate):
        self.rate = rate

    def price(self, text):
        return self.rate * float(text.replace("$", ""))

    @classmethod
    def make(cls, text):
        return float(text.replace("$", ""))

    @staticmethod
    def read(text):
        return float(text.replace("$", ""))
"""
FIX = '    return float(text.replace("$", "").lstrip("₹").replace(",", ""))'
PRICE = f"def price(text):\n{FIX}"


def rupees(price: Any) -> None:
    assert price("₹1,299") == 1299.0


def dollars(price: Any) -> None:
    assert price("$3") == 3.0


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[ModuleType]:
    with imported(tmp_path, SHOP) as module:
        yield module


@pytest.fixture(autouse=True)
def no_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GREENLOOP_HEAL", "GREENLOOP_HEAL_IN_PROCESS", "GREENLOOP_MODEL", "GREENLOOP_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def failing(call: Callable[[], object], kind: type[BaseException] = ValueError) -> BaseException:
    with pytest.raises(kind) as raised:
        call()
    return raised.value


def notes_of(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


def test_a_failing_call_gets_the_value_that_its_tests_accept(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    price = repair(tests=[rupees], proposer=model)(shop.price)
    assert price("₹1,299") == 1299.0
    assert price.last_repair.succeeded
    assert price.last_repair.heal.grade == "verified"
    assert len(model.prompts) == 3
    assert shop.price.__code__.co_consts == price.__wrapped__.__code__.co_consts
    failing(lambda: shop.price("₹1,299"))  # nothing is replaced here


def test_what_the_patch_does_it_does_elsewhere(shop: ModuleType, tmp_path: Path) -> None:
    left = tmp_path / "left"
    reply = f"def price(text):\n    CALLS.append(text)\n{FIX}"
    price = repair(tests=[rupees], proposer=Replies(*three(reply)), verify=lambda value: value == 1299.0)(
        shop.price
    )
    assert price("₹1,299") == 1299.0
    assert shop.CALLS == []
    assert not left.exists()


def test_without_evidence_the_exception_is_the_functions_own(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    price = repair(proposer=model)(shop.price)
    error = failing(lambda: price("₹1,299"))
    assert "did not heal" in notes_of(error)
    assert ".." not in notes_of(error)
    assert price.last_repair.heal.trials[0].plausible
    assert "lstrip" in price.last_repair.heal.diff


def test_it_is_the_same_object_with_its_own_traceback(tmp_path: Path) -> None:
    with imported(
        tmp_path, "KEPT = []\ndef f():\n    error = KeyError('k')\n    KEPT.append(error)\n    raise error\n"
    ) as module:
        f = repair(runs="record")(module.f)
        error = failing(f, KeyError)
        assert error is module.KEPT[0]
        assert [frame.name for frame in traceback.extract_tb(error.__traceback__)][-2:] == ["wrapper", "f"]


def test_failures_may_become_values(shop: ModuleType) -> None:
    assert repair(runs="record", on_failure="return_none")(shop.price)("x") is None
    assert repair(runs="record", on_failure=lambda error: str(error)[:5])(shop.price)("x") == "could"
    narrow = repair(runs="record", on_failure="return_none", exceptions=(KeyError,))(shop.price)
    failing(lambda: narrow("x"))


def test_what_ends_the_program_is_not_caught(shop: ModuleType) -> None:
    quits = repair(runs="record", on_failure="return_none")(shop.quits)
    assert notes_of(failing(quits, SystemExit)) == ""


def test_verify_refuses_and_accepts(shop: ModuleType) -> None:
    model = Replies(*three("def price(text):\n    return 2 * float(text.replace('$', ''))"))
    price = repair(verify=lambda value: value >= 6, proposer=model)(shop.price)
    assert price("$3") == 6.0
    assert price("$9") == 9.0
    refused = repair(verify=lambda value: False, runs="record")(shop.price)
    assert "refused" in str(failing(lambda: refused("$3")))


def test_tests_that_fail_are_a_failure_though_the_call_works(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    price = repair(tests=[rupees, dollars], proposer=model)(shop.price)
    assert price("$12.99") == 12.99
    assert price.last_repair.succeeded
    assert len(model.prompts) == 3
    assert repair(tests=[dollars], proposer=model)(shop.price)("$1") == 1.0
    assert len(model.prompts) == 3


def test_an_argument_is_replayed_as_it_was(shop: ModuleType) -> None:
    reply = "def last(items):\n    items.reverse()\n    return items[0]"
    last = repair(verify=lambda value: value == 3, proposer=Replies(*three(reply)))(shop.last)
    items = [1, 2, 3]
    assert last(items) == 3
    assert items == [3, 2, 1]


@pytest.mark.thorough
def test_methods_of_each_kind_are_healed(shop: ModuleType) -> None:
    def accepts(value: Any) -> bool:
        return bool(value > 0)

    def indented(head: str, body: str) -> str:
        return f"{head}\n{body}"

    fixed = 'float(text.lstrip("$₹").replace(",", ""))'
    method = repair(
        verify=accepts, proposer=Replies(*three(f"def price(self, text):\n    return self.rate * {fixed}"))
    )
    assert method(shop.Cart.price)(shop.Cart(2), "₹1,299") == 2598.0
    reply = f"@classmethod\ndef make(cls, text):\n    return {fixed}"
    shop.Cart.make = repair(verify=accepts, proposer=Replies(*three(reply)))(vars(shop.Cart)["make"])
    assert shop.Cart.make("₹1,299") == 1299.0
    reply = f"@staticmethod\ndef read(text):\n    return {fixed}"
    shop.Cart.read = repair(verify=accepts, proposer=Replies(*three(reply)))(vars(shop.Cart)["read"])
    assert shop.Cart.read("₹1,299") == 1299.0


PROGRAM = """\
from agents import repair
from tests.support.proposers import Replies, three


class Shop:
    def __init__(self):
        self.rate = 2.0

    @repair(verify=bool, proposer=Replies(*three("def price(self, text):\\n return self.rate * float(text[-1:])")))
    def price(self, text):
        return self.rate * float(text)

    @classmethod
    @repair(verify=bool, proposer=Replies(*three("def make(cls, text):\\n return float(text[-1:])")))
    def make(cls, text):
        return float(text)


if __name__ == "__main__":
    print(Shop().price("$4"), Shop.make("$4"))
"""


@pytest.mark.thorough
def test_methods_of_a_class_of_the_program_itself_are_healed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command, variables = [sys.executable, "program.py"], {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("8.0 4.0\n", "")


def test_what_cannot_be_done_again_is_recorded_with_the_reason(shop: ModuleType, tmp_path: Path) -> None:
    model = Replies(*three(PRICE))
    decorate = repair(tests=[rupees], proposer=model)
    assert "generator" in decorate(shop.numbers).last_repair.why
    assert list(islice(repair(on_failure="return_none")(shop.numbers)(1), 1)) == [1]
    failing(lambda: list(repair(on_failure="return_none")(shop.numbers)(1)), KeyError)
    rate = 2

    def closure(text: str) -> float:
        return rate * float(text)

    assert "closure" in notes_of(failing(lambda: decorate(closure)("x")))
    assert "lambda" in notes_of(failing(lambda: decorate(lambda text: float(text))("x")))
    with (tmp_path / "f").open("w+") as file:
        assert "no plain data" in notes_of(failing(lambda: decorate(shop.price)(file), AttributeError))
    scope: dict[str, Any] = {"__name__": "nowhere"}
    exec("def f(x):\n    return float(x)\n", scope)
    assert "source" in notes_of(failing(lambda: decorate(scope["f"])("x")))
    assert model.prompts == []


class Slots:
    """An object that knows its attributes by a dict."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        return self.known[name]

    def half(self, number: int) -> float:
        return 1 / number


class Silent(Slots):
    """An object that has no attribute to look at, not even its class."""

    def __getattribute__(self, name: str) -> Any:
        raise LookupError(name)


class Large:
    """An object whose attributes are longer than what is packed."""

    def __init__(self) -> None:
        self.rows = list(range(2 * MOST_BYTES))

    half = Slots.half


class Unpackable:
    """Takes the place of a crossing, and fails as one does whose dict another thread changes."""

    def __init__(self, number: int) -> None:
        raise RuntimeError(f"dictionary changed size during iteration {number}")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Slots, "can't be read (KeyError)"),
        (Silent, "can't be read (LookupError)"),
        (Large, "take more than 64 KiB"),
    ],
)
def test_what_an_object_raises_that_is_looked_at_ends_no_call(made: Callable[[], Any], reason: str) -> None:
    half = repair(tests=[rupees], proposer=(model := Replies(PRICE)), runs="record")(Slots.half)
    given = made()
    assert half(given, 2) == 0.5
    assert reason in notes_of(failing(lambda: half(given, 0), ZeroDivisionError))
    assert model.prompts == []


def test_an_argument_that_another_thread_changes_ends_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.healing.call_process.PlainCrossing", Unpackable)
    assert repair(runs="record")(Slots.half)(SimpleNamespace(), 2) == 0.5  # type: ignore[arg-type]


def test_of_arguments_that_do_not_fit_no_model_is_asked(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    decorate = repair(tests=[rupees], proposer=model)
    for wrong in (decorate(shop.price), decorate(shop.Cart.price), lambda: asyncio.run(decorate(shop.slowly)())):
        assert "arguments do not fit" in notes_of(failing(wrong, TypeError))
    assert model.prompts == []
    assert "arguments" not in notes_of(failing(lambda: repair(runs="record")(shop.last)(5), AttributeError))
    fails = repair(runs="record")(shop.price)  # a TypeError of its own
    assert "arguments" not in notes_of(failing(lambda: fails(b"1"), TypeError))


@pytest.mark.thorough
def test_async_functions_are_healed_and_the_loop_goes_on(shop: ModuleType) -> None:
    model = Replies(*three(f"async def slowly(text):\n    await asyncio.sleep(0)\n{FIX}"), seconds=0.2)
    slowly = repair(verify=lambda value: value > 0, proposer=model)(shop.slowly)
    assert inspect.iscoroutinefunction(slowly)

    async def beside() -> tuple[float, float]:
        longest, last, healing = 0.0, time.monotonic(), asyncio.ensure_future(slowly("₹1,299"))
        while not healing.done():
            await asyncio.sleep(0.01)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return healing.result(), longest

    value, longest = asyncio.run(beside())
    assert value == 1299.0
    assert longest < 0.5


def test_cancelling_ends_a_heal(shop: ModuleType) -> None:
    slowly = repair(verify=lambda value: value > 0, proposer=Replies("x", seconds=20))(shop.slowly)

    async def cancelled() -> float:
        task = asyncio.ensure_future(slowly("₹1,299"))
        await asyncio.sleep(2)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert asyncio.run(cancelled()) < 2


@pytest.mark.thorough
def test_threads_share_one_heal(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    price = repair(verify=lambda value: value == 1299.0, proposer=model)(shop.price)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(price, ["₹1,299"] * 8)) == {1299.0}
    assert len(model.prompts) == 3


def test_tests_that_run_in_this_process_are_never_run_twice_at_once(shop: ModuleType) -> None:
    busy, met = threading.Lock(), []

    def alone(price: Any) -> None:
        met.append(busy.acquire(blocking=False))
        try:
            time.sleep(0.2)
            assert price("₹1,299") == 1299.0
        finally:
            if met[-1]:
                busy.release()

    assert repair(tests=[alone], proposer=Replies(*three(PRICE)))(shop.price)("₹1,299") == 1299.0
    assert all(met), met


def test_a_patch_is_remembered_and_what_failed_is_not_tried_again(shop: ModuleType) -> None:
    model = Replies(*three(PRICE))
    price = repair(tests=[rupees], proposer=model)(shop.price)
    assert [price("₹1,299"), price("₹1,299")] == [1299.0, 1299.0]
    assert len(model.prompts) == 3
    never = repair(verify=lambda value: False, proposer=model, max_attempts=1)(shop.price)
    failing(lambda: never("₹1,299"))
    asked = len(model.prompts)
    failing(lambda: never("₹1,299"))
    assert len(model.prompts) == asked


@pytest.mark.thorough
def test_the_store_is_believed_only_as_far_as_its_patch_holds(shop: ModuleType, tmp_path: Path) -> None:
    cache, model = tmp_path / "cache", Replies(*three(PRICE))
    decorate = repair(tests=[rupees], proposer=model, cache=cache)
    assert decorate(shop.price)("₹1,299") == 1299.0
    assert decorate(shop.price)("₹1,299") == 1299.0
    assert len(model.prompts) == 3
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    assert len(document["texts"]) == 3
    document["texts"] = [text.replace("lstrip", "rstrip") for text in document["texts"]]
    kept.write_text(json.dumps(document))
    price = repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=cache)(shop.price)
    assert price("₹1,299") == 1299.0
    kept.write_text("{")
    model = Replies(*three(PRICE))
    assert repair(tests=[rupees], proposer=model, cache=cache)(shop.price)("₹1,299") == 1299.0
    assert len(model.prompts) == 3


def test_programs_that_are_one_voice_are_kept_once(shop: ModuleType, tmp_path: Path) -> None:
    cache, (first, *others) = tmp_path / "cache", three(PRICE)
    model = Replies(first, first.replace("return", "number =") + "\n    return number", *others)
    repair(tests=[rupees], proposer=model, cache=cache)(shop.price)("₹1,299")
    assert len(model.prompts) == 4
    unasked = Replies("no")
    price = repair(tests=[rupees], proposer=unasked, cache=cache)(shop.price)
    assert price("₹1,299") == 1299.0
    assert unasked.prompts == []


@pytest.mark.thorough
def test_of_kept_texts_one_alone_is_no_evidence(shop: ModuleType, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=cache)(shop.price)("₹1,299")
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    kept.write_text(json.dumps({**document, "texts": document["texts"][:1]}))
    model = Replies(PRICE)
    failing(lambda: repair(tests=[rupees], proposer=model, cache=cache, max_attempts=1)(shop.price)("₹1,299"))
    assert len(model.prompts) == 1  # the store did not do


def test_a_store_that_cannot_be_written_leaves_the_call_healed(shop: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no directory")
    price = repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=tmp_path / "cache")(shop.price)
    assert price("₹1,299") == 1299.0
    assert "not kept" in price.last_repair.notes[0]


SWALLOWS = """\
def price(text):
    try:
        return float(text.replace("$", ""))
    except ValueError:
        return 1299.0
"""


@pytest.mark.thorough
def test_a_patch_that_a_model_is_refused_is_refused_from_the_store(shop: ModuleType, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=cache)(shop.price)("₹1,299")
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    document["texts"] = [document["texts"][0].replace(FIX, SWALLOWS.partition("\n")[2])]
    kept.write_text(json.dumps(document))
    model = Replies(SWALLOWS)
    price = repair(tests=[rupees], proposer=model, cache=cache, max_attempts=1)(shop.price)
    failing(lambda: price("₹1,299"))
    assert len(model.prompts) == 1  # and not the store's, which is the same text
    assert "suspicious" in price.last_repair.why
    (trial,) = price.last_repair.heal.trials
    assert trial.plausible  # the control: the tests alone would accept it


@pytest.mark.thorough
def test_of_a_kept_text_only_the_place_that_fails_is_taken(shop: ModuleType, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=cache)(shop.price)("₹1,299")
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    document["texts"] = [f"import subprocess\nsubprocess.run(['true'])\n{each}" for each in document["texts"]]
    kept.write_text(json.dumps(document))
    price = repair(tests=[rupees], proposer=Replies("no"), cache=cache)(shop.price)
    assert price("₹1,299") == 1299.0
    assert "subprocess" not in price.last_repair.heal.diff


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_what_is_no_file_of_the_store_is_not_read(shop: ModuleType, tmp_path: Path, kind: str) -> None:
    cache = tmp_path / "cache"
    repair(tests=[rupees], proposer=Replies(*three(PRICE)), cache=cache)(shop.price)("₹1,299")
    (kept,) = cache.iterdir()
    kept.rename(tmp_path / "elsewhere")
    if kind == "link":
        kept.symlink_to(tmp_path / "elsewhere")
        assert "lstrip" in kept.read_text()  # the control: opened plainly, it is read
    else:
        os.mkfifo(kept)
    model = Replies(*three(PRICE))
    assert repair(tests=[rupees], proposer=model, cache=cache)(shop.price)("₹1,299") == 1299.0
    assert len(model.prompts) == 3


FILE_OF_TESTS = """\
from {name} import price


def test_dollars():
    assert price("$3") == 3.0
"""
BREAKS_DOLLARS = 'def price(text):\n    return float(text.lstrip("₹").replace(",", ""))'


@pytest.mark.slow
def test_a_patch_that_breaks_a_test_of_a_file_is_refused(shop: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_price.py").write_text(FILE_OF_TESTS.format(name=shop.__name__))
    tests: list[Callable[[Any], object] | str | Path] = [rupees, tmp_path / "test_price.py"]
    price = repair(tests=tests, proposer=Replies(BREAKS_DOLLARS), max_attempts=1)(shop.price)
    failing(lambda: price("₹1,299"))
    assert "test_dollars passed before" in price.last_repair.why
    without = repair(tests=[rupees], proposer=Replies(*three(BREAKS_DOLLARS)))(shop.price)
    assert without("₹1,299") == 1299.0  # the control: nothing else refuses it
    assert repair(tests=tests, proposer=Replies(*three(PRICE)))(shop.price)("₹1,299") == 1299.0


@pytest.mark.thorough
def test_a_file_of_tests_that_fails_is_a_failure_though_the_call_works(tmp_path: Path) -> None:
    source = f"from agents import repair\n\n\n{SHOP}"
    with imported(
        tmp_path, source.replace("def price(text):\n", "@repair(runs='record')\ndef price(text):\n", 1)
    ) as shop:
        (tmp_path / "test_price.py").write_text(
            FILE_OF_TESTS.format(name=shop.__name__).replace('"$3") == 3.0', '"₹1,299") == 1299.0')
        )
        decorate = repair(tests=[tmp_path / "test_price.py"], proposer=Replies(*three(PRICE)), max_seconds=300)
        price = decorate(shop.price.__wrapped__)
        assert price("$3") == 3.0
        assert price.last_repair.succeeded, price.last_repair
        assert price.last_repair.heal.grade == "verified"
        assert price.last_repair.heal.symptom.items[0].name == "test_price.py::test_dollars"


class Opened(Sandbox):
    """A sandbox that counts how often it was opened and closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0
        self._sandbox = open_sandbox()
        self.name, self.interpreter = self._sandbox.name, self._sandbox.interpreter

    def launch(self, job: Job) -> Running:
        return self._sandbox.launch(job)

    def open(self) -> Opened:
        self.opened += 1
        return self

    def close(self) -> None:
        self.closed += 1


def test_fifty_failing_calls_open_one_sandbox_and_it_is_closed(shop: ModuleType) -> None:
    counted = Opened()
    shared = SharedSandbox(counted.open)
    options = RepairOptions(verify=lambda value: False, proposer=Replies(*three(PRICE)), max_attempts=1)
    price = repaired(options, shop.price, sandbox=shared)
    last = repaired(options, shop.last, sandbox=shared)
    for _ in range(25):
        failing(lambda: price("₹1,299"))
        failing(lambda: last([1, 2, 3]), IndexError)
    assert (counted.opened, counted.closed) == (1, 0)
    shared.close()
    shared.close()
    assert (counted.opened, counted.closed) == (1, 1)


def test_a_fork_opens_a_sandbox_of_its_own_and_leaves_the_other_open() -> None:
    counted = Opened()
    shared = SharedSandbox(counted.open)
    shared.get()
    pid = os.fork()
    if pid == 0:
        shared.close()
        closed = counted.closed
        shared.get()
        os._exit(0 if (closed, counted.opened) == (0, 2) else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_heals_are_bounded_by_the_hour(shop: ModuleType) -> None:
    model = Replies("def price(text):\n    return None")
    price = repair(verify=lambda value: value is not None, proposer=model, max_heals=2, max_attempts=1)(shop.price)
    for number in range(4):
        failing(lambda number=number: price(f"x{number}"))  # type: ignore[misc]
    assert "within an hour" in price.last_repair.why
    assert len(model.prompts) <= 4
    failing(lambda: price("x3"))
    assert "within an hour" in price.last_repair.why, "it is not given up: in another hour it may be healed"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("switch", "asked"), [("off", 0), ("record", 0), ("propose", 3), ("process", 3), ("no", 0)]
)
def test_the_environment_only_lowers(
    shop: ModuleType, monkeypatch: pytest.MonkeyPatch, switch: str, asked: int
) -> None:
    model = Replies(*three(PRICE))
    price = repair(tests=[rupees], proposer=model, runs="propose")(shop.price)
    monkeypatch.setenv("GREENLOOP_HEAL", switch)
    error = failing(lambda: price("₹1,299"))
    assert len(model.prompts) == asked
    assert (notes_of(error) == "") == (switch == "off")
    assert ("is not known" in notes_of(error)) == (switch == "no")


def test_the_function_is_replaced_only_with_the_operators_word(
    shop: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Replies(*three(PRICE))
    price = repair(tests=[rupees], proposer=model, runs="process")(shop.price)
    assert price("₹1,299") == 1299.0
    failing(lambda: shop.price("₹1,299"))
    monkeypatch.setenv("GREENLOOP_HEAL_IN_PROCESS", "1")
    assert price("₹1,299") == 1299.0
    assert shop.price("₹1,299") == 1299.0


PRIVATE = """\
class Base:
    def __rate(self, by):
        return 3

    def price(self):
        return 1 / 0


class Cart(Base):
    def __init__(self):
        self.__rate = 3

    def price(self):
        return self.__rate / super().__name__

    def __secret(self):
        return 1 / 0

    @staticmethod
    def shown():
        return 1 / 0
"""


def test_a_method_is_replaced_as_one_of_its_class(tmp_path: Path) -> None:
    new = PRIVATE.replace("super().__name__", "super()._Base__rate(1)").replace("1 / 0", "7")
    with imported(tmp_path, PRIVATE) as module:
        cart = module.Cart()
        for name in ("price", "_Cart__secret", "shown"):
            install(getattr(module.Cart, name), PRIVATE, new)
        assert (cart.price(), cart._Cart__secret(), module.Cart.shown()) == (1.0, 7, 7)


def test_a_decorated_function_looks_as_before(tmp_path: Path) -> None:
    source = (
        "from agents import repair\n\n"
        "@repair(runs='record')\ndef f(a, *, b: int = 2) -> int:\n    'Doc.'\n    return a + b\n"
    )
    with imported(tmp_path, source) as module:
        f = module.f
        assert str(inspect.signature(f)) == "(a, *, b: int = 2) -> int"
        assert (f.__name__, f.__doc__, f.__module__) == ("f", "Doc.", module.__name__)
        assert pickle.loads(pickle.dumps(f)) is f
        assert f(1, b=1) == 2
        assert f.last_repair is None


def test_of_a_recursion_the_outermost_call_is_healed(tmp_path: Path) -> None:
    source = "def fact(n):\n    return 1 // 0 if n == 0 else n * fact(n - 1)\n"
    with imported(tmp_path, source) as module:
        model = Replies(*three("def fact(n):\n    return 1 if n == 0 else n * fact(n - 1)"))
        fact = repair(verify=lambda value: value == 24, proposer=model)(module.fact)
        vars(module)["fact"] = fact
        assert fact(4) == 24
        assert len(model.prompts) == 3


def test_a_decorated_program_is_not_run_again_inside(tmp_path: Path) -> None:
    source = """\
from agents import repair
from tests.support.proposers import Replies, three

model = Replies(*three("def half(x):\\n    return int(x) // 2"))

@repair(verify=lambda value: value == 2, proposer=model)
def half(x):
    return x // 2

value = half("4")
asked = len(model.prompts)
"""
    with imported(tmp_path, source) as module:
        assert (module.value, module.asked) == (2, 3)


def test_after_a_fork_it_heals_on(shop: ModuleType) -> None:
    price = repair(tests=[rupees], proposer=Replies(*three(PRICE)))(shop.price)
    assert price("₹1,299") == 1299.0
    pid = os.fork()
    if pid == 0:
        os._exit(0 if price("₹1,299") == 1299.0 else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_an_observer_that_raises_is_told_once(shop: ModuleType) -> None:
    def observe(event: RepairEvent) -> None:
        raise RuntimeError("mine")

    price = repair(runs="record", on_event=observe)(shop.price)
    assert notes_of(failing(lambda: price("x"))).count("on_event raised RuntimeError: mine") == 1
    assert "on_event" not in notes_of(failing(lambda: price("x")))


def test_events_tell_of_a_heal(shop: ModuleType) -> None:
    events: list[RepairEvent] = []
    repair(tests=[rupees], proposer=Replies(*three(PRICE)), on_event=events.append)(shop.price)("₹1,299")
    kinds = [event.type for event in events]
    assert kinds[0] == "attempt_failed"
    assert kinds[-1] == "repair_succeeded"
    assert {"propose_start", "propose_complete", "verify_success"} <= set(kinds)


@pytest.mark.parametrize(
    "arguments",
    [
        {"runs": "here"},
        {"on_failure": "quiet"},
        {"max_attempts": 0},
        {"max_attempts": "many"},
        {"max_seconds": float("nan")},
        {"exceptions": (KeyboardInterrupt,)},
        {"exceptions": 5},
        {"tests": [5]},
        {"tests": 5},
        {"tests": "nowhere.py"},
        {"verify": 3},
        {"proposer": object()},
        {"model": 5},
        {"cache": 5},
        {"on_event": 5},
        {"prompt_extra": 4},
    ],
)
def test_arguments_that_make_no_sense_are_refused_with_their_name(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(UsageError, match=f"^{name}= "):
        repair(**arguments)


def test_one_test_and_one_exception_need_no_collection(shop: ModuleType, tmp_path: Path) -> None:
    price = repair(tests=rupees, proposer=Replies(*three(PRICE)), exceptions=ValueError)(shop.price)
    assert price("₹1,299") == 1299.0
    failing(lambda: price(5), AttributeError)
    (tmp_path / "test_price.py").write_text(FILE_OF_TESTS.format(name=shop.__name__))
    repair(tests=str(tmp_path / "test_price.py"))(shop.price)


def test_the_decorator_imports_nothing_heavy() -> None:
    code = (
        "import sys; from agents import repair; repair(lambda: 1); print({'litellm', 'pytest'} & {*sys.modules})"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"
