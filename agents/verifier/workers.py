"""What verifications run on, for one verifier or for all of a batch: threads and a warm worker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ..sandbox.interface import Sandbox
from .worker_choice import WorkerChoice


class Workers:
    """Runs `jobs` verifications at a time in `sandbox`.

    `lasting` says that many suites will come: hypothesis is imported in the warm worker from the start, and a
    worker that breaks is replaced a few times.
    """

    def __init__(self, sandbox: Sandbox, jobs: int, *, lasting: bool = False) -> None:
        self.worker_choice = WorkerChoice(sandbox, lasting=lasting)
        self.pool = ThreadPoolExecutor(jobs, thread_name_prefix="verifier")

    def close(self) -> None:
        """Wait for what is under way and release the threads; the sandbox stays its owner's."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.worker_choice.close()
