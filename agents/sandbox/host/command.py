"""A process to start for a job."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .leader import ProcessLeader
from .streams import Streams


@dataclass(frozen=True, slots=True)
class Command:
    """A program that leads a job. `argv` is made once the witness has its number.

    `inherited` are descriptors of this process that the program gets; `own` those of them to close once it has
    them; `namespace` is said to `ProcessLeader`; `when_gone` runs when nothing of the job is left.
    """

    argv: Callable[[int], Sequence[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: Sequence[int] = ()
    own: Sequence[int] = ()
    namespace: bool = True
    when_gone: Callable[[], None] = field(default=lambda: None)

    @property
    def exits_as_shell(self) -> bool:
        """All leaders encode signals as shells do."""
        return True

    def start(self, streams: Streams) -> ProcessLeader:
        """Start the program in a session of its own; raises OSError."""
        stdin, stdout, stderr = streams.their_streams
        try:
            process = subprocess.Popen(  # an argument list, no shell
                list(self.argv(streams.their_witness)),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=dict(self.environment),
                pass_fds=(streams.their_witness, *self.inherited, *self.own),
                start_new_session=True,
            )
        finally:
            streams.close_theirs()
            for descriptor in self.own:
                os.close(descriptor)
        return ProcessLeader(process, namespace=self.namespace)

    def cleanup(self) -> None:
        """Run `when_gone`."""
        self.when_gone()
