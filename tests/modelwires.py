"""How three model providers write an answer, a stream of it and a refusal, from one description of what is said."""

import json
from dataclasses import dataclass
from typing import Any, Final

OUTPUT_TOOL: Final = "final_result"
MODELS: Final = {"openai": "gpt-5-mini", "anthropic": "claude-sonnet-4-6", "google": "gemini-2.5-flash"}
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Totals as the product counts them: ``given`` includes what was cached and written, ``made`` the reasoning."""

    given: int = 100
    made: int = 20
    cached: int = 0
    written: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` is the call of the output tool, ``text`` what is written beside it; ``tokens`` ``None`` = not told.

    ``choices`` 0 = an answer that holds none. ``end``: ``done``, ``length`` or ``refusal``.
    """

    values: Any = None
    text: str | None = None
    end: str = "done"
    tokens: Tokens | None = Tokens()
    choices: int = 1


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer with an error status. ``code`` is what the provider's own field for it says."""

    status: int
    message: str = "no"
    code: str = "error"
    retry_after: str = ""


def write_refusal(provider: str, refused: Refused) -> bytes:
    error: dict[str, Any] = {"message": refused.message, "type": refused.code, "code": refused.code}
    if provider == "anthropic":
        return json.dumps({"type": "error", "error": {"type": refused.code, "message": refused.message}}).encode()
    if provider == "google":
        detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": refused.code}
        error = {"code": refused.status, "message": refused.message, "status": "ERROR", "details": [detail]}
    return json.dumps({"error": error}).encode()


def write_answer(provider: str, answer: Answer, *, streamed: bool) -> tuple[bytes, str]:
    """The body and its content type."""
    whole, parts = WRITERS[provider](answer)
    if not streamed:
        return json.dumps(whole).encode(), JSON
    lines = []
    for part in parts:
        name = f"event: {part['type']}\n" if provider == "anthropic" else ""
        lines.append(f"{name}data: {json.dumps(part)}\n\n")
    if provider == "openai":
        lines.append("data: [DONE]\n\n")
    return "".join(lines).encode(), EVENTS


def _openai(answer: Answer) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    finish = {"length": "length", "refusal": "stop"}.get(answer.end, "stop" if answer.values is None else "tool_calls")
    if answer.end == "refusal":
        message["refusal"] = "I cannot help with that."
    if answer.values is not None:
        arguments = answer.values if isinstance(answer.values, str) else json.dumps(answer.values)
        function = {"name": OUTPUT_TOOL, "arguments": arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    head = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": MODELS["openai"]}
    whole: dict[str, Any] = {**head, "object": "chat.completion"}
    whole["choices"] = [{"index": 0, "finish_reason": finish, "message": message}] * answer.choices
    delta = {**message, "tool_calls": [{"index": 0, **call} for call in message.get("tool_calls", ())]}
    chunk = {**head, "object": "chat.completion.chunk"}
    parts: list[dict[str, Any]] = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}] * answer.choices},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}] * answer.choices},
    ]
    if answer.tokens is not None:
        told = answer.tokens
        whole["usage"] = {
            "prompt_tokens": told.given,
            "completion_tokens": told.made,
            "total_tokens": told.given + told.made,
            "prompt_tokens_details": {"cached_tokens": told.cached},
            "completion_tokens_details": {"reasoning_tokens": told.reasoning},
        }
        parts.append({**chunk, "choices": [], "usage": whole["usage"]})
    return whole, parts


def _anthropic(answer: Answer) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    if answer.values is not None:
        content.append({"type": "tool_use", "id": "toolu_1", "name": OUTPUT_TOOL, "input": answer.values})
    stop = {"length": "max_tokens", "refusal": "refusal"}.get(
        answer.end, "end_turn" if answer.values is None else "tool_use"
    )
    whole: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODELS["anthropic"]}
    whole |= {"content": content * answer.choices, "stop_reason": stop, "stop_sequence": None}
    start: dict[str, Any] = {**whole, "content": [], "stop_reason": None}
    end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}}
    if answer.tokens is not None:
        told = answer.tokens
        whole["usage"] = {
            "input_tokens": told.given - told.cached - told.written,
            "cache_read_input_tokens": told.cached,
            "cache_creation_input_tokens": told.written,
            "output_tokens": told.made,
        }
        start["usage"] = {**whole["usage"], "output_tokens": 1}
        end["usage"] = {"output_tokens": told.made}
    parts: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(whole["content"]):
        parts.extend(_anthropic_block(index, block))
    return whole, [*parts, end, {"type": "message_stop"}]


def _anthropic_block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        values = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": values}
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def _google(answer: Answer) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    parts: list[dict[str, Any]] = []
    if answer.text is not None:
        parts.append({"text": answer.text})
    if answer.values is not None:
        parts.append({"functionCall": {"name": OUTPUT_TOOL, "args": answer.values}})
    finish = {"length": "MAX_TOKENS", "refusal": "SAFETY"}.get(answer.end, "STOP")
    candidate: dict[str, Any] = {"index": 0, "finishReason": finish}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    whole: dict[str, Any] = {"candidates": [candidate] * answer.choices, "modelVersion": MODELS["google"]}
    if answer.tokens is not None:
        told = answer.tokens
        whole["usageMetadata"] = {
            "promptTokenCount": told.given,
            "candidatesTokenCount": told.made - told.reasoning,
            "totalTokenCount": told.given + told.made,
        }
        if told.cached:
            whole["usageMetadata"]["cachedContentTokenCount"] = told.cached
        if told.reasoning:
            whole["usageMetadata"]["thoughtsTokenCount"] = told.reasoning
    return whole, [whole]


WRITERS: Final = {"openai": _openai, "anthropic": _anthropic, "google": _google}
