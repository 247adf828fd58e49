"""A process to start for a job."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from .leader import ProcessLeader, end_process
from .streams import Streams


@dataclass(frozen=True, slots=True)
class Command:
    """A program that leads a job. `argv` is made once the witness has its number.

    `inherited` are descriptors of this process that the program gets; `own` those of them to close once it has
    them; `namespace` is said to `ProcessLeader`; `cleanup` runs when nothing of the job is left.
    """

    argv: Callable[[int], Sequence[str]]
    inherited: Sequence[int] = ()
    own: Sequence[int] = ()
    namespace: bool = True
    cleanup: Callable[[], None] = field(default=lambda: None)

    def start(self, streams: Streams) -> ProcessLeader:
        """Start the program in a session of its own; raises OSError, and then nothing of it is left."""
        stdin, stdout, stderr = streams.their_streams
        with ExitStack() as undone:
            try:
                process = subprocess.Popen(  # an argument list, no shell
                    list(self.argv(streams.their_witness)),
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    env={},
                    pass_fds=(streams.their_witness, *self.inherited, *self.own),
                    start_new_session=True,
                )
                undone.callback(end_process, process)
            finally:
                streams.close_theirs()
                for descriptor in self.own:
                    os.close(descriptor)
            leader = ProcessLeader(process, namespace=self.namespace)
            undone.pop_all()
        return leader
