"""Reaches a Ray cluster, or starts one, without its dashboard, its usage statistics and its own output."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import UsageError
from ...syntax.clean_text import clean

LOCAL = "local"
LOCAL_STORE_BYTES = 256 * 1024 * 1024
"""Of a local cluster's object store, which holds tasks and results for a moment."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_enable_metrics_collection": "0"}


@contextmanager
def connected(address: str, slots: int | None) -> Iterator[Any]:
    """Connect to the cluster at `address` while the body runs, and give the module `ray`.

    `address` is `auto`, `HOST:PORT`, `ray://HOST:PORT`, or `local` for a cluster of this machine alone, with
    `slots` workers (None: one a core), that ends with the body. Raises UsageError.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise UsageError("--ray needs Ray; install it with: pip install 'greenloop[scale]'") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == LOCAL:
        options |= {"include_dashboard": False, "num_cpus": slots, "object_store_memory": LOCAL_STORE_BYTES}
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        # Only the JSON document may stand on standard output, and Ray has no option that keeps its reports off.
        worker.print_to_stdstream = lambda *_, **__: None
    try:
        ray.init(address, **options)
    except Exception as error:  # Ray raises whatever its libraries do, down to a bare Exception
        raise UsageError(_unreached(address, error)) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _unreached(address: str, error: Exception) -> str:
    reason = clean(str(error)).strip().partition("\n")[0].rstrip(".")[:300] or type(error).__name__
    if address == LOCAL:
        return f"No Ray cluster could be started on this machine ({reason}); leave --ray out to use --jobs alone."
    return (
        f"No Ray cluster answers at {address} ({reason}); start one with `ray start --head`, or take --ray local."
    )
