"""What a folder may set: by `.env` limits and providers' keys, in some commands; acts by no variable at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App
from cyclopts.config import Env
from dotenv import dotenv_values

from agents.cli.heal import heal
from agents.cli.main import app
from agents.settings import KEY_VARIABLES, Output, Settings, Use, in_ci, read_dotenv, uses

from ..support.commands import ROOT, environment, greenloop
from ..support.provider import Streams, serving

LIMITS = {
    "GREENLOOP_MAX_ROUNDS": "2", "GREENLOOP_MAX_SECONDS": "50.0", "GREENLOOP_MAX_TOKENS": "5000",
    "GREENLOOP_MAX_COST": "0.5", "GREENLOOP_DRAFTS": "3", "GREENLOOP_EFFORT": "low",
    "GREENLOOP_TEMPERATURE": "0.4", "GREENLOOP_SEED": "7",
}  # fmt: skip
LIMITED = Settings(
    max_rounds=2, max_seconds=50.0, max_tokens=5000, max_cost=0.5, drafts=3, effort="low", temperature=0.4, seed=7
)
KEYS = {name: "a-key" for names in KEY_VARIABLES.values() for name in names}
OURS = {
    "GREENLOOP_MODEL": "recorded:evil", "GREENLOOP_CODE_WRITER_MODEL": "recorded:evil",
    "GREENLOOP_TEST_WRITER_MODEL": "recorded:evil", "GREENLOOP_CRITIC_MODEL": "recorded:evil",
    "GREENLOOP_HEALER_MODEL": "recorded:evil", "GREENLOOP_API_BASE": "http://127.0.0.1:9/v1",
    "GREENLOOP_WEIGHTS": "evil.gguf", "GREENLOOP_RECORD": "evil", "GREENLOOP_CACHE": "evil",
    "GREENLOOP_FROZEN": "true", "GREENLOOP_PYTHON": "./evilpy", "GREENLOOP_PACKAGES": "evil",
    "GREENLOOP_ANSWERS": "evil.txt", "GREENLOOP_STRATEGY": "single", "GREENLOOP_APPROVE": "all",
    "GREENLOOP_APPROVE_SECONDS": "1", "GREENLOOP_MUTATION": "false", "GREENLOOP_REQUIRE": "contested",
    "GREENLOOP_SANDBOX": "none", "GREENLOOP_WORK_DIR": "evil", "GREENLOOP_JSON": "true",
    "GREENLOOP_QUIET": "true", "GREENLOOP_COLOR": "false", "GREENLOOP_CONTAINER": "./evil",
    "GREENLOOP_CACHE_DIR": "evil", "GREENLOOP_HEAL": "process", "GREENLOOP_HEAL_IN_PROCESS": "1",
}  # fmt: skip
OTHERS = dict.fromkeys(  # what Python, git, pip, curl, TLS, the dynamic linker and libraries here read
    """PATH HOME TMPDIR SHELL PAGER EDITOR BROWSER CI PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONUSERBASE
    PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHONBREAKPOINT PYTHONPLATLIBDIR PYTHONEXECUTABLE PYTHONINSPECT
    PYTHON_DOTENV_DISABLED GIT_DIR GIT_WORK_TREE GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_GLOBAL
    GIT_CONFIG_COUNT
    GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EXEC_PATH GIT_ASKPASS GIT_PROXY_COMMAND GIT_TEMPLATE_DIR PIP_INDEX_URL
    PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE PIP_TARGET PIP_TRUSTED_HOST UV_INDEX_URL CURL_HOME CURL_CA_BUNDLE
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SSLKEYLOGFILE OPENSSL_CONF HTTP_PROXY HTTPS_PROXY ALL_PROXY
    NO_PROXY http_proxy https_proxy LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH
    OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS OTEL_SDK_DISABLED LITELLM_MODE LITELLM_LOG
    LITELLM_LOCAL_MODEL_COST_MAP OPENAI_API_BASE OPENAI_BASE_URL OPENAI_ORGANIZATION ANTHROPIC_BASE_URL
    AZURE_API_BASE AZURE_API_KEY OLLAMA_HOST OLLAMA_API_BASE HF_TOKEN HF_HOME HF_ENDPOINT AWS_PROFILE
    AWS_ACCESS_KEY_ID AWS_CONFIG_FILE GOOGLE_APPLICATION_CREDENTIALS DOCKER_HOST CONTAINER_HOST XDG_DATA_HOME
    XDG_CACHE_HOME XDG_CONFIG_HOME RAY_ADDRESS RAY_RUNTIME_ENV_HOOK OMP_NUM_THREADS LLAMA_ARG_MODEL PYTEST_ADDOPTS
    PYTEST_PLUGINS COVERAGE_PROCESS_START HYPOTHESIS_STORAGE_DIRECTORY NO_COLOR TERM COLUMNS MCP_LOG_LEVEL
    UVICORN_HOST""".split(),  # noqa: SIM905
    "./evil",
)
REQUIRED: dict[str, tuple[str, ...]] = {
    "verify": ("x", "x"), "verify-pairs": ("x",),
    "debug": ("x",), "batch status": ("x",), "batch merge": ("x", "--out", "x"),
    "bench humaneval+": ("--data", "x"),
    "bench mbpp+": ("--data", "x"),
    "bench everyday": ("--data", "x"), "bench quixbugs": ("--data", "x"), "bench seeded-bugs": ("--data", "x"),
}  # fmt: skip


def commands(at: App = app, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    if at.default_command is not None:
        yield words
    for name in at:
        if not name.startswith("-"):
            yield from commands(at[name], (*words, name))


COMMANDS = sorted(commands())
READING = {(), ("batch",), ("debug",), ("models",)}


def parsed(words: tuple[str, ...]) -> dict[str, Any]:
    """What a command is called with, run with no more options than it needs."""
    tokens = [*words, *REQUIRED.get(" ".join(words), ())]
    _, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    return dict(bound.arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory whose `.env` sets everything; nothing of it is in this process's environment."""
    monkeypatch.chdir(tmp_path)
    for name in {**LIMITS, **KEYS, **OURS, "CI": ""}:
        monkeypatch.delenv(name, raising=False)
    lines = [f"{name}={value}" for name, value in {**LIMITS, **KEYS, **OURS, **OTHERS}.items()]
    (tmp_path / ".env").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def unchanged(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment before the test, which it has again after it."""
    before = dict(os.environ)
    yield before
    os.environ.clear()
    os.environ.update(before)


def test_the_file_here_names_every_setting() -> None:
    fields = {f"GREENLOOP_{name.upper()}" for name in {**uses(), **uses(Output)}}
    assert fields <= {*LIMITS, *OURS}
    assert set(LIMITS) == {f"GREENLOOP_{name.upper()}" for name, use in uses().items() if Use.FILE in use}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_takes_more_of_a_dotenv_file_than_limits_and_keys(
    words: tuple[str, ...], folder: Path, unchanged: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = parsed(words)
    said = capsys.readouterr()
    added = {name: os.environ[name] for name in os.environ if name not in unchanged and "PYTEST" not in name}
    (folder / ".env").unlink()
    plain = parsed(words)
    if words in READING - {("models",)}:
        assert Settings.of(found.pop("own")) == LIMITED
        plain.pop("own", None)
    assert found == plain
    assert added == (KEYS if words in READING else {})
    ignored = {**OURS, **OTHERS, **({} if words in READING else {**LIMITS, **KEYS})}
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert set(said.err.rstrip(".\n").partition("option: ")[2].split(", ")) == set(ignored)
    assert "evil" not in said.err
    assert "a-key" not in said.err


@pytest.mark.usefixtures("folder")
def test_nothing_at_all_is_taken_in_ci_or_by_a_test_run_that_heals(
    unchanged: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.from_environment(dotenv=False) == Settings()
    monkeypatch.setenv("CI", "true")
    assert Settings.from_environment() == Settings()
    assert KEYS.keys().isdisjoint(os.environ)
    monkeypatch.delenv("CI")
    assert Settings.from_environment() == LIMITED  # the control
    assert KEYS.items() <= os.environ.items()
    assert not in_ci()
    assert unchanged["PATH"] == os.environ["PATH"]


@pytest.mark.usefixtures("folder", "unchanged")
def test_the_same_variables_in_the_environment_do_take_effect() -> None:
    """The control: what is ignored in a file is not without effect."""
    os.environ.update({**OURS, **LIMITS})
    settings = Settings.from_environment(dotenv=False)
    defaults = Settings()
    same = {name for name in uses() if getattr(settings, name) == getattr(defaults, name)}
    assert same == {name for name, use in uses().items() if Use.ACT in use}


def test_a_variable_of_the_environment_goes_before_one_of_the_file(
    folder: Path, unchanged: dict[str, str]
) -> None:
    os.environ.update({"GREENLOOP_MAX_ROUNDS": "4", "OPENAI_API_KEY": "mine"})
    assert Settings.from_environment().max_rounds == 4
    assert os.environ["OPENAI_API_KEY"] == "mine"
    assert folder.is_dir()
    assert "OPENAI_API_KEY" not in unchanged


def test_a_value_is_taken_as_it_stands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key made of another variable's value would send that to a provider."""
    monkeypatch.setenv("SECRET", "hunter2")
    (folder / ".env").write_text("GROQ_API_KEY=${SECRET}\n")
    assert dotenv_values(folder / ".env") == {"GROQ_API_KEY": "hunter2"}  # the control
    assert read_dotenv(True)[0] == {"GROQ_API_KEY": "${SECRET}"}


def test_a_long_line_of_blanks_is_no_hang(folder: Path) -> None:
    (folder / ".env").write_text("A=b" + " " * 16_000 + "c\n")
    began = time.process_time()
    assert read_dotenv(True)[1].endswith(": A.")
    assert time.process_time() - began < 5
    (folder / ".env").write_text("A=b" + " " * 90_000 + "c\n")
    assert "more than 16384 bytes" in read_dotenv(True)[1]


def test_names_are_shown_escaped(folder: Path) -> None:
    (folder / ".env").write_bytes(b"'a\x1b[31mb'=1\n'c\xe2\x80\xaed'=2\nGROQ_API_KEY='x\0y'\n")
    taken, sentence = read_dotenv(True)
    assert r"'a\x1b[31mb', 'c\u202ed'" in sentence
    assert sentence.isascii()
    assert sentence.isprintable()
    assert taken == {"GROQ_API_KEY": "xy"}


def test_a_dotenv_file_that_is_no_file_of_the_folder_is_not_read(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "keys"
    elsewhere.write_text("OPENAI_API_KEY=secret\n")
    file = folder / ".env"
    file.unlink()
    file.symlink_to(elsewhere)
    assert dotenv_values(file) == {"OPENAI_API_KEY": "secret"}  # the control: it is followed
    taken, sentence = read_dotenv(True)
    assert taken == {}
    assert "is not read" in sentence
    file.unlink()
    os.mkfifo(file)
    assert "is not read" in read_dotenv(True)[1]  # and does not wait for a writer
    file.unlink()
    file.write_text("OPENAI_API_KEY=k\n" * 5000)
    taken, sentence = read_dotenv(True)
    assert taken == {}
    assert "bytes" in sentence
    file.unlink()
    file.mkdir()
    assert read_dotenv(True) == ({}, "")
    file.rmdir()
    file.symlink_to("a" * 300)
    assert "is not read" in read_dotenv(True)[1]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_only_settings_are_variables_and_no_act_is_one(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = parsed(words)
    _, apps, _ = app.parse_commands(words)
    settings = {name for name, use in {**uses(), **uses(Output)}.items() if Use.ACT not in use}
    for argument in apps[-1].assemble_argument_collection():
        name = argument.name.strip("-").replace("-", "_")
        if name not in settings:
            monkeypatch.setenv(f"GREENLOOP_{name.upper()}", "1")
    assert parsed(words) == plain


@pytest.mark.usefixtures("unchanged")
def test_a_variable_would_be_an_act_if_every_option_were_one() -> None:
    """The control, by cyclopts's own configuration."""
    os.environ["GREENLOOP_APPLY_FORCE"] = "1"
    every = App(config=Env("GREENLOOP_", command=False), default_command=heal)
    _, bound, _ = every.parse_args(["x.py"], exit_on_error=False, print_error=False)
    assert bound.arguments["apply_force"] is True


EVIL = '#!/bin/sh\ntouch evil-ran\nexec {} "$@"\n'


def test_a_folders_python_is_run_by_no_command_and_the_json_document_stands_alone(tmp_path: Path) -> None:
    python = tmp_path / "evilpy"
    python.write_text(EVIL.format(sys.executable))
    python.chmod(0o755)
    (tmp_path / "test_a.py").write_text("def test_a(): assert True\n")
    (tmp_path / ".env").write_text("GREENLOOP_PYTHON=./evilpy\nGREENLOOP_SANDBOX=none\n")
    ended = greenloop(tmp_path, "audit", "--json", "--seconds", "20")
    assert ended.stdout.startswith("{")
    assert "GREENLOOP_PYTHON, GREENLOOP_SANDBOX" in ended.stderr
    assert not (tmp_path / "evil-ran").exists()
    extra = {"GREENLOOP_PYTHON": "./evilpy"}  # the control: the user's own variable
    greenloop(tmp_path, "audit", "--seconds", "20", extra=extra)
    assert (tmp_path / "evil-ran").exists()


AUDITED = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
sys.addaudithook(lambda event, args: event == "open" and str(args[0]).endswith(".env") and opened.append(1))
opened = []
if sys.argv[1] == "control":
    import litellm
else:
    from agents.cli.main import app
    app(sys.argv[1:], exit_on_error=False, result_action="return_value")
    import agents.llm_backends.tool_agent, agents.mcp.server, agents.ui.server, agents.batch.ray.executor
print(len(opened), [name for name in os.environ if name.startswith(("EVIL", "OTEL"))])
"""


@pytest.mark.thorough
def test_no_library_reads_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EVIL=1\nOTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9\nOPENAI_API_KEY=k\n")

    def last_line(*arguments: str) -> str:
        command = [sys.executable, "-c", AUDITED, *arguments]
        own = environment(tmp_path, {"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        ended = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=120)
        return ended.stdout.splitlines()[-1]

    with serving() as provider:
        provider.script(Streams(["```python\ndef f(x: int) -> int:\n    return x + 2\n```"]))
        options = ("--model", "openai/m", "--api-base", provider.api_base, "--max-rounds", "1", "--drafts", "1")
        assert last_line("f(x: int) -> int, one more. f(1) == 3", *options) == "1 []"
        assert provider.requests
    assert last_line("control") == "1 ['EVIL', 'OTEL_EXPORTER_OTLP_ENDPOINT']"
