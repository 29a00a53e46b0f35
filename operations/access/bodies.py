"""Refuses large request bodies before Django spools them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

MAX_BODY_BYTES: Final = 4_000_000
TOO_LARGE: Final = "jobctrl.body_too_large"


class LimitBody:
    """Hands an over-long request on without its body and marked; ``CheckRequest`` then answers 413."""

    def __init__(self, application: Application, *, limit: int = MAX_BODY_BYTES) -> None:
        self._application = application
        self._limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        marked: dict[str, Any] = {**scope, TOO_LARGE: _read_length(scope) > self._limit}
        seen = 0
        is_cut = False

        async def receive_within_limit() -> Any:
            nonlocal seen, is_cut
            while True:
                message: Any = await receive()
                if message["type"] != "http.request":
                    return message
                if is_cut:
                    continue  # the rest of a body that was already declared ended
                seen += len(message.get("body", b""))
                if seen > self._limit:
                    marked[TOO_LARGE] = True
                if not marked[TOO_LARGE]:
                    return message
                is_cut = True
                return {"type": "http.request", "body": b"", "more_body": False}

        await self._application(marked, receive_within_limit, send)


def _read_length(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0


async def refuse_websocket(_scope: Any, receive: Receive, send: Send) -> None:
    """Nothing here speaks it: closed before it is accepted, which the client sees as 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1000, "reason": None})
