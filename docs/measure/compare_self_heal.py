"""Measure self-heal-llm beside `bench quixbugs`: same model, programs, visible items and judge.

    pip download --no-deps self-heal-llm==0.5.0
    python -m docs.measure.compare_self_heal QUIXBUGS self_heal_llm-0.5.0-py3-none-any.whl OUT [SEEDS [MODEL]]

OUT is the directory of `bench quixbugs`, or will be: what is there is not done again. self-heal-llm runs what it
repairs in its own process; here that is a sandbox job, done anew with one reply more each time it asks for one.
Its function is called with the arguments of the first visible item that fails, its tests are the visible items,
and its limit of three attempts stays: two proposals, the first at temperature 0, as greenloop's.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from agents.bench.repairs import REPAIR_STRATEGIES, Repair, RepairTask
from agents.cli.bench import RepairOptions, measure_quixbugs
from agents.llm_backends.selection import choose, probe_ollama
from agents.records import Message, Request
from agents.roles.healer import TEMPERATURE
from agents.run.role_models import RoleModels, lengths_of
from agents.sandbox import Job, SandboxLimits, open_sandbox
from agents.settings import Settings
from agents.syntax.source import parse
from agents.verifier import Verifier

INSIDE = r"""
import json, os, sys
order = json.load(sys.stdin)
answer = os.dup(1)
os.dup2(2, 1)

def end(document):
    os.write(answer, json.dumps(document).encode())
    os._exit(0)

sys.path[:0] = ["/box", "/src/self_heal.whl"]
with open("user_code.py", "w") as file:
    file.write(order["code"])
import user_code
from self_heal.loop import RepairLoop

name = order["name"]
original = getattr(user_code, name)
space = {}
exec(order["tests"], space)
tests = [value for key, value in space.items() if key.startswith("test")]

def on(test):
    def run(function):
        space[name] = function
        test()
    run.__name__ = test.__name__
    return run

class Proposer:
    def propose(self, system, user):
        if not order["replies"]:
            end({"ask": [system, user]})
        return order["replies"].pop(0)

seen = []
def recording(*given):
    seen[:] = given
    return original(*given)

for test in tests:
    try:
        on(test)(recording)
    except Exception:
        break
result = RepairLoop(proposer=Proposer()).run(original, args=tuple(seen), tests=[on(test) for test in tests])
proposed = [each.proposed_source for each in result.attempts if each.proposed_source]
end({"succeeded": result.succeeded, "proposed": proposed[-1] if proposed else ""})
"""


def main(quixbugs: str, wheel: str, out: str, seeds: str = "1", model: str = "embedded") -> int:
    """Run greenloop, one patch, and self-heal-llm; what OUT holds already is not done again."""
    package = Path(wheel).read_bytes()
    limits = SandboxLimits(wall_seconds=30, cpu_seconds=30)
    sandbox = open_sandbox("auto")

    def self_heal(task: RepairTask, models: RoleModels, _: Verifier, settings: Settings) -> Repair:
        ask, lengths = models.ask("healer"), lengths_of(choose(settings, os.environ, probe_ollama, "healer"))
        replies: list[str] = []
        while True:
            order = {"name": task.entry_point, "code": task.code, "tests": task.tests, "replies": replies}
            files = {"main.py": INSIDE.encode(), "self_heal.whl": package}
            job = Job(["-B", "/src/main.py"], files, limits, stdin=json.dumps(order).encode())
            with sandbox.launch(job) as running:
                ended = running.wait()
            if not ended.stdout:  # it hangs where the program does
                return Repair(patches=len(replies))
            answer = json.loads(ended.stdout)
            if "ask" not in answer:
                break
            system, user = answer["ask"]
            request = Request(
                role="healer",
                messages=(Message("system", system), Message("user", user)),
                max_tokens=lengths.code,
                temperature=TEMPERATURE if replies else 0.0,
                seed=settings.seed * 1000 + len(replies),
                purpose=f"proposal {len(replies) + 1}",
            )
            replies.append(ask(request).text)
        code = _with(task, answer["proposed"]) if answer["succeeded"] else ""
        return Repair(code, claimed=bool(answer["succeeded"]), patches=len(replies))

    strategies = {**REPAIR_STRATEGIES, "self-heal-llm": self_heal}
    options = RepairOptions(data=Path(quixbugs), out=Path(out), seeds=int(seeds), model=model)
    try:
        return measure_quixbugs(options, strategies)
    finally:
        sandbox.close()


def _with(task: RepairTask, proposed: str) -> str:
    """The module with the proposed text in the place of the function."""
    lines = task.code.split("\n")
    node = next(each for each in parse(task.code).body if getattr(each, "name", None) == task.entry_point)
    return "\n".join([*lines[: node.lineno - 1], proposed, *lines[node.end_lineno :]])


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5, 6):
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
