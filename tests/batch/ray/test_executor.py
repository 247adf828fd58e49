"""A batch on a Ray cluster of three nodes, one of which is killed: the results are those of one machine."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ...support.playback import wait_until
from ..faults.provider import provider_process
from ..faults.sittings import KEY, Sittings

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed (extra scale)"),
    pytest.mark.filterwarnings("ignore"),  # Ray leaves files and processes to its own daemons
]
STORE_BYTES = 80 * 1024 * 1024
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", **KEY}


@contextmanager
def variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """The nodes of a cluster have the environment that they were started in."""
    earlier = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def cluster(nodes: int) -> Iterator[Any]:
    """A cluster of so many nodes on this machine, two workers each; a skip where Ray does not start."""
    from ray.cluster_utils import Cluster

    found = Cluster()
    try:
        with variables(QUIET):
            for _ in range(nodes):
                found.add_node(num_cpus=2, object_store_memory=STORE_BYTES, include_dashboard=False)
    except Exception as error:  # Ray raises whatever its libraries do
        found.shutdown()
        pytest.skip(f"no Ray cluster starts here: {str(error)[:200]}")
    try:
        yield found
    finally:
        found.shutdown()


def survive_the_loss_of_a_node(directory: Path, count: int, lost_after: int) -> None:
    with (
        provider_process(directory / "log.jsonl", seed=3, rate=0.02, pause=0.05) as served,
        cluster(3) as nodes,
    ):
        batch = Sittings(directory, served, count, jobs=6)
        with batch.sitting("--ray", nodes.address) as process:
            assert wait_until(lambda: process.poll() is not None or len(batch.finished()) >= lost_after, 900), (
                batch.printed()[-2000:]
            )
            assert process.poll() is None, batch.printed()[-2000:]
            nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
            assert process.wait(3600) == 1, batch.printed()[-2000:]  # the tasks called `slip` are contested
        batch.require_all_as_expected()


@pytest.mark.timeout(1200)
def test_a_batch_on_three_nodes_survives_the_loss_of_one(tmp_path: Path) -> None:
    survive_the_loss_of_a_node(tmp_path, 12, lost_after=3)


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_a_batch_of_200_on_three_nodes_survives_the_loss_of_one(tmp_path: Path) -> None:
    survive_the_loss_of_a_node(tmp_path, 200, lost_after=60)
