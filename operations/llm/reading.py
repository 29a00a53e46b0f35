"""What a raw answer says of its use, before anything is parsed for its content. Nothing in it raises."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from operations.llm.usage import Usage

LONGEST_BODY = 16_000_000
MOST_TOKENS = 100_000_000  # far above what any model takes; one absurd figure would use up every limit of the day
#: Which reader of genai-prices knows a provider's answers.
FLAVORS: Final = {"openai": ("openai", "chat"), "anthropic": ("anthropic", "default"), "google": ("google", "default")}


def read_usage(provider: str, body: bytes, *, streamed: bool) -> Usage | None:
    """``None`` where the answer does not say, or says something impossible."""
    try:
        answer = merge_stream(provider, body) if streamed else json.loads(body)
        return _read(provider, answer) if isinstance(answer, dict) else None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def tells_whole_use(provider: str, body: bytes) -> bool:
    """Whether a stream came as far as its last figures. One that broke off before has told a part of them at most."""
    return any(_ends_use(provider, part) for part in iterate_parts(body))


def _ends_use(provider: str, part: dict[str, Any]) -> bool:
    if provider == "anthropic":
        usage = part.get("usage")
        return part.get("type") == "message_delta" and isinstance(usage, Mapping) and "output_tokens" in usage
    if provider == "google":
        return "promptFeedback" in part or _is_finished(part.get("candidates"), "finishReason")
    return _is_finished(part.get("choices"), "finish_reason") or (not part.get("choices") and bool(part.get("usage")))


def _is_finished(answers: object, field: str) -> bool:
    return isinstance(answers, list) and any(isinstance(one, Mapping) and one.get(field) for one in answers)


def _read(provider: str, answer: dict[str, Any]) -> Usage | None:
    from genai_prices import data_snapshot

    name, flavor = FLAVORS[provider]
    # The model's name may be one that it does not list; what was used is said the same way.
    known = data_snapshot.get_snapshot().find_provider(None, name, None)
    _, found = known.extract_usage({"model": "any", "modelVersion": "any", **answer}, api_flavor=flavor)
    usage = Usage(
        input_tokens=_whole(found.input_tokens),
        output_tokens=_whole(found.output_tokens),
        cached_input_tokens=_whole(found.cache_read_tokens),
        cache_write_tokens=_whole(found.cache_write_tokens),
        reasoning_output_tokens=_whole(found.output_reasoning_tokens),
    )
    return usage if usage.total else None


def _whole(value: object) -> int:
    number = int(value or 0)  # type: ignore[call-overload]
    if not 0 <= number <= MOST_TOKENS:
        raise ValueError("no such number of tokens")
    return int(number)


def merge_stream(provider: str, body: bytes) -> dict[str, Any]:
    """The parts of a streamed answer that tell its use, as one answer that was not streamed has them."""
    merged: dict[str, Any] = {}
    for part in iterate_parts(body):
        if provider == "anthropic":
            part = {**part.get("message", {}), **part}
            usage = {**merged.get("usage", {}), **_drop_nothing(part.get("usage"))}
        elif provider == "openai":
            usage = _drop_nothing(part.get("usage")) or merged.get("usage", {})
        else:
            merged["usageMetadata"] = _drop_nothing(part.get("usageMetadata")) or merged.get("usageMetadata", {})
            continue
        merged["usage"] = usage
    return merged


def iterate_parts(body: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a server-sent event stream; what is none is left out."""
    for line in body.splitlines():
        if not line.startswith(b"data:"):
            continue
        try:
            part = json.loads(line[5:])
        except ValueError:
            continue
        if isinstance(part, dict):
            yield part


def _drop_nothing(usage: object) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if value is not None} if isinstance(usage, Mapping) else {}


def complete_body(provider: str, body: bytes) -> bytes:
    """Anthropic's client cannot read an answer that tells no use, as some servers of its kind send them."""
    if provider != "anthropic" or b'"usage"' in body:
        return body
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(answer, dict) or answer.get("type") != "message":
        return body
    return json.dumps({**answer, "usage": {"input_tokens": 0, "output_tokens": 0}}).encode()
