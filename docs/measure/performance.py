"""Measures what docs/performance.md states: `python -m docs.measure.performance start`, or `model`.

`start` times `--help` and the loop's own share of a round. `model` puts the same recorded questions to the
embedded model in several configurations, each in a process of its own, and prints a table; it takes about six
minutes on two idle cores, and means nothing on busy ones.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from docs.measure import ROOT

REPLAYS = ROOT / "tests" / "replays" / "embedded"
SPEC = (
    "Implement slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes "
    "and strips punctuation."
)
ASKED = ("draft 1", "draft 2", "tests", "replacement")
VARIANTS = {
    "as shipped": {},
    "without speculation": {"speculation": False},
    "a system prompt for each role": {"own_prefix": True},
    "as shipped, beside a busy process": {"busy": True},
    "spinning, beside a busy process": {"busy": True, "spin": True},
}


def measure_start(runs: int = 15) -> None:
    """Print the median time of `--help`, and the seconds a round takes outside model calls and test runs."""
    caching = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command, times = [sys.executable, "main.py", "--help"], []
    for _ in range(runs + 1):
        started = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=caching, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    del times[0]  # it filled the cache
    print(f"--help: median {statistics.median(times):.3f} s of {runs} (fastest {min(times):.3f})")
    with tempfile.TemporaryDirectory() as work_dir:
        command = [sys.executable, "main.py", SPEC, "--model", f"recorded:{REPLAYS.parent}", "--quiet"]
        subprocess.run([*command, "--work-dir", work_dir], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        (run,) = Path(work_dir, "runs").glob("*/run.json")
        record = json.loads(run.read_text(encoding="utf-8"))
        rounds = [json.loads(path.read_text(encoding="utf-8")) for path in run.parent.glob("rounds/*/round.json")]
    boards = sum(each["board"]["seconds"] + (each["probes"] or {"seconds": 0})["seconds"] for each in rounds)
    own = (record["seconds"] - boards) / len(rounds)
    print(f"a round outside model calls and test runs: {own:.3f} s (mean of {len(rounds)}, start-up included)")


def questions() -> list[dict[str, Any]]:
    """The recorded requests that are put again, in the order of a run."""
    found: dict[str, Any] = {}
    for path in REPLAYS.glob("*.json"):
        request = json.loads(path.read_text(encoding="utf-8"))["request"]
        for purpose in ASKED:
            if request["purpose"].startswith(purpose) and SPEC + "\n\n" in request["messages"][1]["content"]:
                found.setdefault(purpose, request)
    return [found[purpose] for purpose in ASKED if purpose in found]


def with_own_prefix(request: dict[str, Any]) -> dict[str, Any]:
    """The request as it would be if each role had its own system prompt: its task first, the spec last."""
    system, user = request["messages"][0]["content"], request["messages"][1]["content"]
    spec, _, task = user.partition("# Task")
    messages = [{"role": "system", "content": f"{task}\n\n{system}"}, {"role": "user", "content": spec}]
    return {**request, "messages": messages}


def ask_all(variant: dict[str, bool]) -> None:
    """Put every question; print one JSON line each."""
    from agents.llm_backends.embedded import EmbeddedModel, load_server
    from agents.llm_backends.weights import fetch, locate

    weights = locate(None) or fetch(lambda progress: None)
    load = partial(load_server, speculation=variant.get("speculation", True))
    model = EmbeddedModel(weights, on_wait=print, load=load)
    for request in questions():
        asked = with_own_prefix(request) if variant.get("own_prefix") else request
        started = time.perf_counter()
        params = {name: asked[name] for name in ("max_tokens", "temperature", "seed")}
        messages = [
            {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}
            for message in asked["messages"]
        ]
        *_, final = model.generate_stream(messages, **params)
        usage = final.token_usage
        row = {
            "purpose": request["purpose"].split(" on ")[0],
            "seconds": time.perf_counter() - started,
            "prompt": usage.input_tokens,
            "cached": final.cached_prompt_tokens,
            "generated": usage.output_tokens,
            "speed": final.tokens_per_second,
            "drafted": final.drafted_tokens,
            "accepted": final.accepted_tokens,
        }
        print(json.dumps(row), flush=True)
    model.close()


def measure_model() -> None:
    """Print a Markdown table with a row for each configuration and question."""
    columns = ("configuration", "question", "prompt tokens (cached)", "generated", "tokens/s", "drafted, accepted")
    print(f"| {' | '.join(columns)} | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name, variant in VARIANTS.items():
        rows = _rows_of(name, variant)
        for row in rows:
            print(
                f"| {name} | {row['purpose']} | {row['prompt']} ({row['cached']}) | {row['generated']} "
                f"| {row['speed']:.1f} | {row['drafted']}, {row['accepted']} | {row['seconds']:.1f} |"
            )
        tokens, seconds = sum(row["generated"] for row in rows), sum(row["seconds"] for row in rows)
        print(
            f"| **{name}** | **all** | | {tokens} | {tokens / seconds:.1f} (reading included) | | {seconds:.1f} |"
        )


def _rows_of(name: str, variant: dict[str, bool]) -> list[dict[str, Any]]:
    wait = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinite"} if variant.get("spin") else {}
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])] if variant.get("busy") else []
    try:
        asking = [sys.executable, "-m", "docs.measure.performance", "ask", name]
        ended = subprocess.run(asking, env={**os.environ, **wait}, capture_output=True, text=True, check=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return [json.loads(line) for line in ended.stdout.splitlines()]


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["start", "model", "ask"])
    parser.add_argument("variant", nargs="?", default="as shipped", choices=list(VARIANTS))
    chosen = parser.parse_args()
    if chosen.what == "start":
        measure_start()
    elif chosen.what == "model":
        measure_model()
    else:
        ask_all(VARIANTS[chosen.variant])


if __name__ == "__main__":
    main()
