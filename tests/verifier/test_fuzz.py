"""The host's ends of the channels, fed with anything: never a pass, never an exception, nothing left open."""

from __future__ import annotations

import itertools
import random
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.sandbox import Job
from agents.verifier.inside.proxy.frames import ASK, HELLO, frame

from ..support.channels import Record, differing, renumbered, telling, verdict_on

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_the_truth_passes() -> None:
    assert verdict_on(telling(lambda records: records), seconds=20).kind == "passed"


@FUZZ
@given(seed=st.integers(0, 1 << 32))
def test_a_run_that_differs_from_the_truth_in_one_thing_does_not_pass(seed: int) -> None:
    assert verdict_on(telling(lambda records: differing(records, random.Random(seed).randrange))).kind != "passed"


@FUZZ
@given(tests=st.binary(max_size=300), code=st.binary(max_size=300), hello=st.booleans())
def test_bytes_of_any_kind_end_in_a_verdict_that_is_no_pass(tests: bytes, code: bytes, hello: bool) -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall((frame(HELLO, b"") if hello else b"") + (tests if part == "test_process" else code))

    assert verdict_on(script).kind != "passed"


def test_a_test_that_begins_before_the_tests_are_collected_is_no_pass() -> None:
    def swapped(records: list[Record]) -> list[Record]:
        return renumbered([records[1], records[0], *records[2:]])

    assert verdict_on(telling(swapped)).kind == "forged"


@pytest.mark.parametrize(("kind", "field"), [("finish", "failed"), ("answers", "never"), ("report", "facts")])
def test_a_number_beyond_all_bounds_is_no_pass(kind: str, field: str) -> None:
    told = {"failed": float("inf"), "never": [float("inf")]}
    told["facts"] = {"type": "Failed", "message": "", "line": float("inf"), "where": ""}

    def endless(records: list[Record]) -> list[Record]:
        failing = [each for each in records if each["is"] == kind and (kind != "report" or each["facts"])]
        failing[0][field] = told[field]
        return records

    assert verdict_on(telling(endless), seconds=20).kind == "forged"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_two_records_can_change_places() -> None:
    seen: list[list[Record]] = []

    def keep(records: list[Record]) -> list[Record]:
        seen.append(records)
        return records

    assert verdict_on(telling(keep)).kind == "passed"
    (size,) = map(len, seen)
    for one, other in itertools.combinations(range(size), 2):

        def swapped(records: list[Record], one: int = one, other: int = other) -> list[Record]:
            if len(records) == size:
                records[one], records[other] = records[other], records[one]
            return renumbered(records)

        assert verdict_on(telling(swapped, stays=False)).kind != "passed", (one, other)


FRAMES = st.lists(
    st.tuples(st.sampled_from([b"H", b"R", b"Q", b"A", b"x"]), st.one_of(st.binary(max_size=40), st.just(b"{}"))),
    max_size=8,
)


@FUZZ
@given(tests=FRAMES, code=FRAMES)
def test_frames_in_any_order_end_in_a_verdict_that_is_no_pass(
    tests: list[tuple[bytes, bytes]], code: list[tuple[bytes, bytes]]
) -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        for kind, payload in tests if part == "test_process" else code:
            channel.sendall(frame(kind, payload))

    assert verdict_on(script).kind != "passed"


def test_a_flood_is_cut_off() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        while True:
            channel.sendall(frame(ASK, b"x" * 1000))

    assert verdict_on(script).kind == "forged"


def test_records_full_of_lists_are_not_read() -> None:
    def swollen(records: list[Record], size: int) -> list[Record]:
        note = {**records[0], "is": "note", "text": [[]] * size}
        return renumbered([records[0], note, *records[1:]])

    assert verdict_on(telling(lambda records: swollen(records, 10)), seconds=20).kind == "passed"
    assert verdict_on(telling(lambda records: swollen(records, 1_100_000)), seconds=20).kind == "forged"


def test_silence_ends_at_the_time_limit() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b""))
        channel.recv(1 << 16)
        channel.recv(1)

    assert verdict_on(script).kind == "stopped"


def test_nothing_stays_open() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(b"\x00" * 50)

    verdict_on(script)
    before = (len(list(Path("/proc/self/fd").iterdir())), threading.active_count())
    for _ in range(20):
        verdict_on(script)
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
