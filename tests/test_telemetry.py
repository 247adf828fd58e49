"""Spans of runs, as a receiver on loopback gets them; without the variables nothing of OpenTelemetry is there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.events import Asked, RunEnded, RunStarted
from agents.records import Message, Request
from agents.telemetry import RunSpans

from .run.test_approvals import MENDED, SPEC, answering
from .support.commands import QUICKSORT, REPLAYS, ROOT, environment, greenloop
from .support.otlp_receiver import attributes_of, receiving
from .support.provider import Provider, serving

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry is not installed (extra otel)")

KEY = "sk-a-key-that-must-not-be-seen"
OPTIONS = ("--effort", "low", "--model", "openai/gpt-4o", "--no-mutation", "--json")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(answering(lambda _: MENDED))
        yield server


def run(folder: Path, provider: Provider, **variables: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    extra = {"OPENAI_API_KEY": KEY, **variables}
    ended = greenloop(folder, SPEC, *OPTIONS, "--api-base", provider.api_base, extra=extra)
    return ended, json.loads(ended.stdout)


def test_a_run_is_one_trace_whose_tokens_are_those_of_the_run(tmp_path: Path, provider: Provider) -> None:
    with receiving() as receiver:
        _, document = run(tmp_path, provider, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
    spans = receiver.spans()
    assert len({span.trace_id for span in spans}) == 1
    known = {span.span_id: span for span in spans}
    (root,) = [span for span in spans if not span.parent_span_id]
    assert all(span.parent_span_id in known for span in spans if span is not root)
    assert root.name == "invoke_workflow greenloop"
    facts = attributes_of(root)
    assert facts["gen_ai.conversation.id"] == Path(document["run_dir"]).name
    assert (facts["greenloop.grade"], facts["greenloop.exit_code"]) == (document["grade"], document["exit_code"])
    chats = [span for span in spans if span.name == "chat openai/gpt-4o"]
    assert len(chats) == document["usage"]["calls"]
    for field, name in (("prompt_tokens", "input"), ("completion_tokens", "output")):
        assert (
            sum(attributes_of(chat)[f"gen_ai.usage.{name}_tokens"] for chat in chats) == document["usage"][field]
        )
    assert {known[chat.parent_span_id].name for chat in chats} == {
        "invoke_agent code_writer",
        "invoke_agent test_writer",
        "invoke_agent critic",
    }
    assert {chat.kind for chat in chats} == {3}, "CLIENT"
    assert attributes_of(chats[0])["gen_ai.response.finish_reasons"] == ["stop"]
    verified = [attributes_of(span) for span in spans if span.name == "verify"]
    assert [span.name for span in spans if span.name.startswith("round")] == [
        f"round {number}" for number in range(1, document["rounds"] + 1)
    ]
    assert len(verified) == document["rounds"]
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)


@pytest.mark.thorough
def test_no_text_leaves_without_the_opt_in_and_no_key_ever(tmp_path: Path, provider: Provider) -> None:
    with receiving() as receiver:
        run(tmp_path, provider, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{receiver.endpoint}/v1/traces")
        sent = b"".join(receiver.bodies)
    assert receiver.bodies
    assert b"twice" not in sent
    assert b"return x" not in sent
    assert KEY.encode() not in sent
    opted = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    with receiving() as receiver:
        run(tmp_path, provider, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, **opted)
        sent = b"".join(receiver.bodies)
    assert b"twice" in sent
    assert b"return x" in sent
    assert KEY.encode() not in sent


@pytest.mark.thorough
def test_replayed_replies_are_marked_and_carry_no_usage(tmp_path: Path) -> None:
    with receiving() as receiver:
        ended = greenloop(
            tmp_path,
            QUICKSORT,
            "--model",
            f"recorded:{REPLAYS}",
            extra={"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint},
        )
        assert ended.returncode == 0
    chats = [attributes_of(span) for span in receiver.spans() if span.name.startswith("chat ")]
    assert chats
    assert all(chat["greenloop.replayed"] and "gen_ai.usage.input_tokens" not in chat for chat in chats)


@pytest.mark.thorough
@pytest.mark.parametrize("silent", [False, True], ids=["dead", "silent"])
def test_a_receiver_that_takes_nothing_changes_nothing(tmp_path: Path, provider: Provider, silent: bool) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "traced").mkdir()
    began = time.monotonic()
    plain, expected = run(tmp_path / "plain", provider, STARTED="cold")  # as the other is
    alone = time.monotonic() - began
    with receiving(silent=True) as receiver:
        endpoint = receiver.endpoint if silent else "http://127.0.0.1:9"
        began = time.monotonic()
        ended, document = run(tmp_path / "traced", provider, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
        longer = time.monotonic() - began - alone
    assert longer < 3 + max(2.0, alone / 2), "three seconds, and what importing costs on a busy machine"
    assert ended.returncode == plain.returncode
    for each in (expected, document):
        del each["run_dir"], each["seconds"], each["usage"]["seconds"], each["tokens_per_second"]
    assert document == expected
    names = [
        sorted(path.relative_to(folder).parts[-1] for path in folder.rglob("*") if path.is_file())
        for folder in (tmp_path / "plain", tmp_path / "traced")
    ]
    assert names[0] == names[1]
    assert ended.stderr.count("could not be sent") == 1
    assert "Traceback" not in ended.stderr
    assert not any("OpenTelemetry" in note for note in document["notes"])


def program(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python that may import the package."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{text}"],
        cwd=folder,
        env=environment(folder, variables),
        capture_output=True,
        text=True,
        timeout=120,
    )


RUN = f"""
from agents.cli import main
main([{QUICKSORT!r}, "--model", "recorded:{REPLAYS}", "--quiet"])
"""


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="no variable"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
            id="disabled",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"},
            id="another exporter",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_nothing_is_imported_where_spans_are_not_asked_for(tmp_path: Path, variables: dict[str, str]) -> None:
    ended = program(tmp_path, RUN, PYTHONPROFILEIMPORTTIME="1", **variables)
    imported = {line.split("|")[-1].strip().split(".")[0] for line in ended.stderr.splitlines()}
    assert "agents" in imported
    assert "opentelemetry" not in imported


@pytest.mark.thorough
def test_without_the_package_a_note_names_it(tmp_path: Path) -> None:
    loud = RUN.replace(', "--quiet"', "")
    text = f"sys.modules['opentelemetry'] = None\n{loud}"
    ended = program(tmp_path, text, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert ended.stderr.count("pip install 'greenloop[otel]'") == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.thorough
def test_a_callers_provider_and_span_are_used(tmp_path: Path) -> None:
    text = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pathlib import Path
from agents import Settings, generate
memory = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)
with trace.get_tracer("mine").start_as_current_span("mine") as mine:
    generate({QUICKSORT!r}, settings=Settings(model="recorded:{REPLAYS}"), work_dir=Path("w"))
(run,) = [span for span in memory.get_finished_spans() if span.name.startswith("invoke_workflow")]
print(run.parent.span_id == mine.get_span_context().span_id, len(memory.get_finished_spans()) > 5)
"""
    ended = program(tmp_path, text)
    assert ended.stdout.split() == ["True", "True"], ended.stderr


def test_variables_that_the_sdk_refuses_are_one_note(tmp_path: Path) -> None:
    variables = {"OTEL_TRACES_EXPORTER": "console, otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "100"}
    ended = program(tmp_path, RUN.replace(', "--quiet"', ""), **variables)
    assert ended.stderr.count("max_queue_size") == 1, ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("model", "provider", "kind"),
    [
        ("gpt-4.1-mini", "openai", "CLIENT"),
        ("groq/openai/gpt-oss-120b", "groq", "CLIENT"),
        ("hosted_vllm/x", "hosted_vllm", "CLIENT"),
        ("embedded", "embedded", "INTERNAL"),
        ("recorded:a/b", "recorded", "INTERNAL"),
    ],
)
def test_a_call_names_its_provider(model: str, provider: str, kind: str) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, source = InMemorySpanExporter(), TracerProvider()
    source.add_span_processor(SimpleSpanProcessor(memory))
    spans = RunSpans(source.get_tracer("test"), None, content=False)
    spans.handle(RunStarted("run", model, "", "none"))
    spans.handle(Asked(Request("critic", (Message("user", "?"),), 10, 0.0, 1)))
    spans.handle(RunEnded("stopped", None, 1, None))
    (call,) = [span for span in memory.get_finished_spans() if span.name.startswith("chat")]
    assert call.attributes is not None
    assert (call.attributes["gen_ai.provider.name"], call.kind.name) == (provider, kind)
