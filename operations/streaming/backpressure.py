"""Makes ``await send()`` wait for a slow client under daphne.

Daphne hands every chunk to Twisted, which buffers without limit: a client that stops reading would fill this process's
memory, and no application could tell. Servers whose ``send`` waits by itself pass through unchanged.
"""

import asyncio
from functools import partial
from typing import Any, Final

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from django.conf import settings
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import Request
from zope.interface import implementer  # type: ignore[import-untyped]

BODY: Final = "http.response.body"


@implementer(IPushProducer)
class Valve:
    """Twisted's side: closed while more than its buffer (64 KB) waits for the client."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_registered = False
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._has_given_up = False

    def register(self) -> None:
        if not self._is_registered and self._request.channel is not None and not self._request.finished:
            self._request.registerProducer(self, True)  # type: ignore[no-untyped-call]
            self._is_registered = True

    def unregister(self) -> None:
        if self._is_registered:
            self._is_registered = False
            self._is_open.set()
            if getattr(self._request, "channel", None) is not None:
                self._request.unregisterProducer()  # type: ignore[no-untyped-call]

    async def wait(self, seconds: float) -> None:
        """Until the client has caught up, or for so long; once given up on, it is not waited for until it reads on."""
        if self._has_given_up:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._is_open.wait()
        except TimeoutError:
            self._has_given_up = True

    def pauseProducing(self) -> None:
        self._is_open.clear()

    def resumeProducing(self) -> None:
        self._has_given_up = False
        self._is_open.set()

    def stopProducing(self) -> None:
        self._is_open.set()


class WaitForClient:
    """ASGI application: every response of more than one part is sent at the pace of its client."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request = find_request(send)
        if request is None:
            await self._application(scope, receive, send)
            return
        valve = Valve(request)

        async def send_and_wait(message: Any) -> None:
            if message["type"] == BODY and message.get("more_body", False):
                valve.register()
                await send(message)
                await valve.wait(settings.JOBCTRL_STREAM_STALL_SECONDS)
                return
            if message["type"] == BODY:
                valve.unregister()  # Twisted objects to a producer that outlives its response
            await send(message)

        try:
            await self._application(scope, receive, send_and_wait)
        finally:
            valve.unregister()


def find_request(send: Any) -> Request | None:
    """Daphne's ``send`` is a partial over the Twisted request it answers."""
    if isinstance(send, partial) and send.args and isinstance(send.args[0], Request):
        return send.args[0]
    return None
