"""The pipes and the socket between the host and a job, and files in memory."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Streams:
    """Standard input, output and error of a job, and the witness: the socket on which its start is reported."""

    def __init__(self, stdin: bytes) -> None:
        """Standard input is a file with `stdin`; /dev/null without."""
        their_stdin = readable(stdin) if stdin else os.open(os.devnull, os.O_RDONLY)
        self.stdout, their_stdout = os.pipe()
        self.stderr, their_stderr = os.pipe()
        self.witness, their_witness = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.their_streams = (their_stdin, their_stdout, their_stderr)
        self.their_witness = their_witness.detach()

    def close_theirs(self) -> None:
        """Close the job's ends here, once it has them."""
        for descriptor in (*self.their_streams, self.their_witness):
            os.close(descriptor)
        self.their_streams, self.their_witness = (-1, -1, -1), -1

    def close(self) -> None:
        """Close all that is still open."""
        if self.their_witness >= 0:
            self.close_theirs()
        with suppress(OSError):
            self.witness.close()
        os.close(self.stdout)
        os.close(self.stderr)


def readable(content: bytes) -> int:
    """Return a descriptor of a file in memory with `content`, which no process can leave behind or change."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
