"""The filter is run here by a small interpreter of classic BPF, so that both machines' programs are checked."""

from __future__ import annotations

import errno
import struct
from typing import Any

import pytest

from agents.sandbox.backends import seccomp
from agents.sandbox.backends.seccomp import _NUMBERS, ARCHITECTURES, number

ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINES = sorted(ARCHITECTURES)


def run(program: bytes, call: int, arguments: tuple[int, ...] = (), audit: int = AUDIT["x86_64"]) -> int:
    data = struct.pack("=IIQ6Q", call, audit, 0, *(arguments + (0,) * (6 - len(arguments))))
    code = list(struct.iter_unpack("=HBBI", program))
    position, loaded = 0, 0
    while True:
        operation, if_true, if_false, value = code[position]
        position += 1
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            loaded &= value
        elif operation == 0x15:
            position += if_true if loaded == value else if_false
        elif operation == 0x45:
            position += if_true if loaded & value else if_false
        elif operation == 0x06:
            return int(value)
        else:
            raise AssertionError(f"unknown instruction {operation:#x}")


def ask(machine: str, name: str, *arguments: int, **options: Any) -> int:
    call = number(name, machine)
    assert call is not None
    program = seccomp.program(machine=machine, **options)
    return run(program, call, arguments, AUDIT[machine])


def refused(code: int) -> int:
    return ERROR | code


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "name",
    ["ptrace", "mount", "unshare", "setns", "bpf", "io_uring_setup", "shmget", "keyctl", "setxattr"],
)
def test_calls_that_reach_beyond_the_process_are_refused(machine: str, name: str) -> None:
    assert ask(machine, name) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["clone3", "memfd_create", "inotify_init1", "flock", "splice", "sendfile"])
def test_calls_that_programs_do_without_seem_absent(machine: str, name: str) -> None:
    assert ask(machine, name) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_that_is_not_named_is_allowed(machine: str) -> None:
    named = {numbers[ARCHITECTURES[machine]] for numbers in _NUMBERS.values()}
    program = seccomp.program(machine=machine, sockets=False, metadata=False, signals_to=7)
    assert {run(program, call, audit=AUDIT[machine]) for call in range(500) if call not in named} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flag", [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)])
def test_clone_makes_processes_but_no_namespaces(machine: str, flag: int) -> None:
    assert ask(machine, "clone", 0x01200011) == ALLOW
    assert ask(machine, "clone", 17 | flag) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_and_scheduling_are_changed_for_oneself_only(machine: str) -> None:
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler"):
        assert ask(machine, name, 0) == ALLOW
        assert ask(machine, name, 1) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("family", "answer"), [(1, ALLOW), (2, ALLOW), (10, ALLOW), (16, refused(97)), (40, refused(97))]
)
def test_only_common_socket_families_exist(machine: str, family: int, answer: int) -> None:
    assert ask(machine, "socket", family) == answer
    assert ask(machine, "socket", family, sockets=False) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_of_protocols_only_those_exist_whose_memory_is_counted(machine: str) -> None:
    multipath = 262
    for protocol in (0, 6, 17):
        assert ask(machine, "socket", 2, 1, protocol) == ALLOW
    assert ask(machine, "socket", 2, 1, multipath) == refused(errno.EPROTONOSUPPORT)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_sizes_of_socket_buffers_stay_while_other_options_are_set(machine: str) -> None:
    for option in (7, 8, 18, 32, 33):
        assert ask(machine, "setsockopt", 3, 1, option) == refused(0)
    assert ask(machine, "setsockopt", 3, 1, 2) == ALLOW  # SO_REUSEADDR
    assert ask(machine, "setsockopt", 3, 6, 7) == ALLOW  # of TCP, not of sockets


@pytest.mark.parametrize("machine", MACHINES)
def test_the_limit_of_core_dumps_is_read_but_not_set(machine: str) -> None:
    core, files = 4, 7
    for pointer in (0x1000, 1 << 32):
        assert ask(machine, "prlimit64", 0, core, pointer) == refused(0)
        assert ask(machine, "prlimit64", 0, files, pointer) == ALLOW
    assert ask(machine, "prlimit64", 0, core, 0) == ALLOW
    assert ask(machine, "setrlimit", core) == refused(0)
    assert ask(machine, "setrlimit", files) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_files_are_locked_by_range_but_not_leased_or_watched(machine: str) -> None:
    lock, lease, notify = 6, 1024, 1026
    assert ask(machine, "fcntl", 3, lock) == ALLOW
    assert ask(machine, "fcntl", 3, lease) == refused(errno.EPERM)
    assert ask(machine, "fcntl", 3, notify) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_socket_pair_that_could_be_redirected_is_refused_without_sockets(machine: str) -> None:
    close_on_exec = 0o2000000
    assert ask(machine, "socketpair", 1, 1 | close_on_exec, sockets=False) == ALLOW
    assert ask(machine, "socketpair", 1, 2 | close_on_exec, sockets=False) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_typing_into_the_terminal_is_refused_even_with_high_bits_set(machine: str) -> None:
    assert ask(machine, "ioctl", 0, 0x5413) == ALLOW
    assert ask(machine, "ioctl", 0, 0x5412) == refused(errno.EPERM)
    assert ask(machine, "ioctl", 0, 0x5412 | 1 << 40) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_signals_reach_only_the_named_process(machine: str) -> None:
    assert ask(machine, "kill", 7, 9) == ALLOW
    assert ask(machine, "kill", 7, 9, signals_to=7) == ALLOW
    for name in ("kill", "tgkill", "tkill", "pidfd_send_signal"):
        assert ask(machine, name, 8, 9, signals_to=7) == refused(errno.EPERM)
    assert ask(machine, "fcntl", 0, 8, signals_to=7) == refused(errno.EPERM)
    assert ask(machine, "ioctl", 0, 0x8901, signals_to=7) == refused(errno.EPERM)


def test_another_machines_calls_are_killed_and_x32_calls_are_absent() -> None:
    program = seccomp.program(machine="x86_64")
    assert run(program, 1, audit=0x40000003) == KILL
    assert run(program, 0x40000000 | 101) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_program_fits_the_kernel(machine: str) -> None:
    assert len(seccomp.program(machine=machine, sockets=False, metadata=False, signals_to=1)) // 8 <= 4096
