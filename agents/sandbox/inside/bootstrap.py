"""The first program in a sandbox: sets limits, drops the user id, and becomes the job.

Run as `python -I -S -c SOURCE WITNESS UID LIMITS PROGRAM ARGUMENT...`: WITNESS is a socket to the host, UID a
number or "-", LIMITS a list such as `AS:1073741824,CPU:8`. It imports little, since imports delay every job.
"""

import os
import resource
import sys


def set_limits(text: str) -> None:
    """Set the hard and soft limits of `text`; of CPU the kill comes a second after the warning."""
    for item in text.split(","):
        name, _, number = item.partition(":")
        kind = getattr(resource, "RLIMIT_" + name)
        soft = int(number)
        ceiling = resource.getrlimit(kind)[1]
        hard = soft + 1 if name == "CPU" else soft
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))


def drop_to(uid: int) -> None:
    """Become user and group `uid` irrevocably; the kernel clears all capabilities."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def await_host(witness: int) -> None:
    """Report that the job is ready, and wait until the host watches it; exit when the host is gone."""
    os.write(witness, b".")
    if os.read(witness, 1) != b"g":
        os._exit(125)


def main() -> None:
    """Set up as the arguments say, and become the program; never returns."""
    witness, uid, limits = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    program = sys.argv[4:]
    try:
        os.set_inheritable(witness, False)
        if uid != "-":
            drop_to(int(uid))
        set_limits(limits)
        await_host(witness)
        os.execv(program[0], program)
    except (OSError, ValueError) as error:
        os.write(witness, f"!{type(error).__name__}: {error}".encode()[:500])
    os._exit(125)


if __name__ == "__main__":
    main()
