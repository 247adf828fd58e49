"""Errors of a model call, each explained by a ModelError with a sentence that says what to do.

LiteLLM's own mapping is not enough: it calls a refused connection an InternalServerError, some HTTP 500 a
BadRequestError, and drops the code that distinguishes a spent quota from a rate limit. So the whole chain of
causes is read, down to the HTTP response or the socket's error, before LiteLLM's class. Classes are compared by
name, so that no library is imported for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..errors import ModelError
from ..syntax.clean_text import clean
from .providers import is_ollama, provider_of

QUOTA_SIGNS = (
    "insufficient_quota",
    "insufficient balance",
    "insufficient credits",
    "credit balance is too low",
    "requires more credits",
)
CONTEXT_SIGNS = ("context_length_exceeded", "exceed_context_size", "prompt is too long", "maximum context length")
REFUSAL_SIGNS = ("content_policy_violation", "content_filter", "responsibleaipolicyviolation")
LONGEST_QUOTE = 240

_ASKED_WAIT = re.compile(
    r'(?:try again in|retry in|retrydelay"?:\s*")\s*(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?'
)
_CLASS_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?:: | - ))+")
_ERROR_MESSAGE = re.compile(r'"(?:message|error)":\s*"((?:[^"\\]|\\.)+)"')
_SECRETS = (
    re.compile(r"\b(?:sk|gsk|xai|csk|hf)[-_][\w.*-]{6,}"),
    re.compile(r"\bAIza[\w*-]{8,}"),
    re.compile(r"(?i)\b(?:bearer|basic|x-api-key:)\s+\S+"),
    re.compile(r"(?i)\b(?:api[_-]?key|key|token)=[^&\s'\"]+"),
)
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")


class _Facts:
    """The facts in a chain of causes: `status` of a real HTTP response or an error event, `names` of the errors'
    classes, `text` of all messages in lower case, `said` by the server."""

    def __init__(self, error: BaseException, environ: Mapping[str, str]) -> None:
        chain = list(_chain(error))
        self.names = {base.__name__ for each in chain for base in type(each).__mro__}
        if any(type(each).__name__ == "APIError" and _body(each) for each in chain):
            self.names.add("ErrorEvent")
        self.status = next(filter(None, map(_status, chain)), None)
        self.text = " ".join(f"{each} {json.dumps(_body(each))}" for each in chain).lower()
        self.said = _said(chain, environ)
        self.address = next(filter(None, map(_address, chain)), "")
        self.retry_after = _retry_after(chain, self.text)

    def has(self, *signs: str) -> bool:
        """Return True if the text holds one of `signs`."""
        return any(sign in self.text for sign in signs)


def explain(
    error: BaseException, model_id: str, *, api_base: str | None = None, environ: Mapping[str, str] = os.environ
) -> ModelError:
    """Return the ModelError for `error`, raised in a call of `model_id` at `api_base` (None: its provider). Its
    message has no key: the values of keys in `environ` are masked."""
    if known := next((each for each in _chain(error) if isinstance(each, ModelError)), None):
        return known
    facts = _Facts(error, environ)
    kind, advice = _diagnosis(facts, model_id, api_base)
    transient = kind in ("rate_limit", "server_error", "network")
    message = mask(clean(advice), environ)
    return ModelError(kind, message, transient=transient, retry_after=facts.retry_after if transient else None)


def mask(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` with everything masked that is, or looks like, a key."""
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and len(value) >= 8:
            text = text.replace(value, "***")
    for pattern in _SECRETS:
        text = pattern.sub("***", text)
    return text


def _diagnosis(facts: _Facts, model_id: str, api_base: str | None) -> tuple[str, str]:
    """Return kind and sentence. The order matters: the server's message decides before its status."""
    provider, status = None if api_base else provider_of(model_id), facts.status
    ollama, bare = is_ollama(model_id), model_id.partition("/")[2] or model_id
    name = provider.name if provider else f"The server {f'at {api_base}' if api_base else f'of {model_id}'}"
    name, model_id = "Ollama" if ollama else name, bare if api_base or ollama else model_id
    words = f': "{facts.said}"' if facts.said else ""
    if facts.has(*REFUSAL_SIGNS) or "ContentPolicyViolationError" in facts.names:
        return "refusal", f"{model_id} refused the request{words}; reword the spec or choose another --model."
    if status == 402 or facts.has(*QUOTA_SIGNS):
        return "quota", f"{name} has no credit left for this key{words}; top it up or choose another --model."
    if facts.has(*CONTEXT_SIGNS) or "ContextWindowExceededError" in facts.names:
        way = "shorten the spec or its tests, or choose a --model with a larger context"
        return "context_too_long", f"The prompt is too long for {model_id}{words}; {way}."
    if status in (401, 403) or ("AuthenticationError" in facts.names and status in (None, 400)):
        variable = provider.key_variables[0] if provider else "OPENAI_API_KEY" if api_base else "key"
        way = "set its key" if ollama else f"set the right {variable} (in the environment or .env)"
        return "bad_key", f"{name} does not accept the key{words}; {way}."
    if status == 404 or facts.has("model_not_found", "llm provider not provided"):
        way = f"fetch it with: ollama pull {bare}" if ollama else "correct --model or --api-base"
        return "no_such_model", f"{name} knows no model {model_id}{words}; {way}."
    if status == 429 or facts.has("rate_limit_exceeded"):
        return "rate_limit", f"{name} limits the rate of requests{words}; wait and go on with --resume."
    if status in (408, 409, 425) or (status is not None and status >= 500):
        return "server_error", f"{name} failed (HTTP {status}){words}; try later with --resume."
    if status is not None:
        return "bad_request", f"{name} rejected the request (HTTP {status}){words}; choose another --model."
    start = "start it with: ollama serve" if ollama else "start it, or correct --api-base"
    return _without_status(facts, name, model_id, words, start)


def _without_status(facts: _Facts, name: str, model_id: str, words: str, start: str) -> tuple[str, str]:
    """Return kind and sentence without an HTTP status: a network error, or an unreadable body."""
    names, where = facts.names, facts.address or name
    if "ErrorEvent" in names:
        return "server_error", f"{name} failed within its reply{words}; try later with --resume."
    if "gaierror" in names:
        return "network", f"The name of {where} can't be resolved; check the network connection and --api-base."
    if "ConnectionRefusedError" in names:
        return "network", f"No server listens at {where}; {start}."
    if "SSLError" in names:
        return "network", f"The connection to {where} fails in TLS{words}; check --api-base and its certificate."
    if any("Timeout" in each for each in names):
        return "network", f"{name} did not answer in time; try later with --resume, or choose another --model."
    if names & {"JSONDecodeError", "UnicodeDecodeError"}:
        return "server_error", f"{name} sent a reply that is not JSON; check that --api-base is OpenAI-compatible."
    if names & {"RemoteProtocolError", "ReadError", "ConnectionResetError", "IncompleteRead"}:
        return "network", f"{name} went away before its reply was complete; try again with --resume."
    if names & {"NetworkError", "ConnectionError", "APIConnectionError"}:
        return "network", f"{where} can't be reached{words}; check the network connection."
    if names & {"APIError", "OpenAIError"}:
        return "server_error", f"{name} failed{words}; try later with --resume."
    return "runtime", f"The call to {model_id} failed{words}; choose another --model, or report a bug."


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything it came from, LiteLLM's `original_exception` included, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        causes = (getattr(each, "original_exception", None), each.__cause__, each.__context__)
        waiting += [cause for cause in causes if isinstance(cause, BaseException)]


def _response(error: BaseException) -> Any:
    """Return the HTTP response of an httpx error; LiteLLM's own errors have a made-up one."""
    bases = {base.__name__ for base in type(error).__mro__}
    return getattr(error, "response", None) if "HTTPStatusError" in bases else None


def _body(error: BaseException) -> dict[str, Any]:
    body = getattr(error, "body", None)
    return body if isinstance(body, dict) else {}


def _status(error: BaseException) -> int | None:
    """Return the status of a real response, or the code in an error event within a stream."""
    status = getattr(_response(error), "status_code", None) or _body(error).get("code")
    return status if isinstance(status, int) and 400 <= status < 600 else None


def _address(error: BaseException) -> str:
    """Return scheme, host and port of the request, without path and query, which may have keys."""
    if not type(error).__module__.startswith("httpx"):
        return ""
    try:
        url = error.request.url  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        return ""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


def _said(chain: list[BaseException], environ: Mapping[str, str]) -> str:
    """Return the server's message on one line, with keys masked and then cut; without httpx's own text."""
    documents = [_body(each).get("message") for each in chain]
    texts = [str(each) for each in chain if not _response(each)]
    quoted = [found[1] for found in map(_ERROR_MESSAGE.search, texts) if found]
    plain = [_CLASS_PREFIXES.sub("", text).partition("\n")[0] for text in texts]
    for message in (*documents, *quoted, *plain):
        line = mask(clean(" ".join(str(message or "").split())), environ)
        if line and not line.startswith(("<", "{", "b'", "Error code:")):
            return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"
    return ""


def _retry_after(chain: list[BaseException], text: str) -> float | None:
    """Return the seconds to wait by the server's Retry-After header, else by its message."""
    for each in chain:
        headers = getattr(_response(each), "headers", None) or {}
        for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            with suppress(KeyError, ValueError):  # an HTTP date is ignored: servers with rate limits send seconds
                return max(0.0, float(headers[name]) * unit)
    found = _ASKED_WAIT.search(text)
    if not found or not (found[1] or found[2]):
        return None
    return float(found[1] or 0) * 60 + float(found[2] or 0) * (0.001 if found[3] == "ms" else 1.0)
