"""The observer: it reads status and use of every answer under the provider's client, before anything parses it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID

import httpx2

from operations.database import OUTAGES
from operations.llm.ledger import Target, close_unknown, count_attempt
from operations.llm.pricing import estimate_llm_cost_usd
from operations.llm.reading import LONGEST_BODY, complete_body, read_usage, tells_whole_use
from operations.llm.refusals import Told, read_told
from operations.llm.threads import in_thread, write_patiently

LONGEST_RETRY_AFTER = timedelta(minutes=5)
NOT_ADMITTED = "a request left without having been admitted"


@dataclass(slots=True)
class Call:
    """What the gate and the observer of one call share. ``key`` is the attempt that is out now.

    ``status``, ``told`` (what its body says of an error, ``None`` until that was read), ``retry_after`` and ``stream``
    are of the last attempt. ``outage`` is why an answer could not be written down, whatever the client makes of that.
    """

    target: Target
    base_url: str = ""
    free: bool = False
    key: UUID | None = None
    status: int | None = None
    told: Told | None = None
    stream: "_Watched | None" = None
    retry_after: timedelta | None = None
    outage: Exception | None = None
    attempts: list[UUID] = field(default_factory=list)

    def begin_attempt(self, key: UUID) -> None:
        self.key, self.status, self.told, self.retry_after, self.stream = key, None, None, None, None
        self.attempts.append(key)

    @property
    def is_answered(self) -> bool:
        """The provider has answered, whether or not what it said can be used."""
        is_good = self.status is not None and 200 <= self.status < 300
        return is_good and self.told is not None and not self.told.is_error

    @property
    def refusal(self) -> str:
        """Why the account is refused, "" where it is not."""
        return "" if self.told is None else self.told.refusal

    def write_down(self, write: Callable[[], bool]) -> None:
        """In a thread of its own."""
        try:
            write_patiently(write)
        except OUTAGES as outage:
            self.outage = outage
            raise

    async def end_stream(self) -> None:
        """Read what a stream has told so far; a client that raises in the middle of it may never close it."""
        if self.stream is not None:
            await self.stream.tell()


class ObservingTransport(httpx2.AsyncBaseTransport):
    """Passes requests on and answers back. A request that the gate did not admit is refused."""

    def __init__(self, call: Call, wrapped: httpx2.AsyncBaseTransport) -> None:
        self._call = call
        self._wrapped = wrapped

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        call, key = self._call, self._call.key
        if key is None:
            raise RuntimeError(NOT_ADMITTED)
        call.key = None  # one admission, one request: a client that repeats by itself gets no second
        response = await self._wrapped.handle_async_request(request)
        call.status = response.status_code
        call.retry_after = read_retry_after(response.headers.get("retry-after", ""), now=datetime.now(UTC))
        if "text/event-stream" in response.headers.get("content-type", ""):
            call.stream = _Watched(response.stream, lambda body: self._observe(key, body, response, streamed=True))
            response.stream = call.stream
            return response
        body = await _read_bounded(response)
        await self._observe(key, body, response, streamed=False)
        body = complete_body(call.target.provider, body)
        headers = [(k, v) for k, v in response.headers.raw if k.lower() not in _OF_THE_WIRE]
        return httpx2.Response(response.status_code, headers=headers, content=body, extensions=_keep(response))

    async def _observe(self, key: UUID, body: bytes, response: httpx2.Response, *, streamed: bool) -> None:
        call = self._call
        call.told = read_told(response.status_code, body, streamed=streamed)
        usage = read_usage(call.target.provider, body, streamed=streamed)
        if usage is None:
            code = "" if call.is_answered else call.refusal or f"http_{response.status_code}"
            await in_thread(
                lambda: call.write_down(
                    lambda: close_unknown(key, http_status=response.status_code, error_code=code),
                )
            )
            return
        target = call.target
        price = estimate_llm_cost_usd(
            usage, provider=target.provider, model=target.model, base_url=call.base_url, free=call.free
        )
        whole, status = not streamed or tells_whole_use(target.provider, body), response.status_code
        await in_thread(
            lambda: call.write_down(
                lambda: count_attempt(key, usage=usage, price=price, http_status=status, is_whole=whole)
            )
        )

    async def aclose(self) -> None:
        await self._wrapped.aclose()


_OF_THE_WIRE = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


def _keep(response: httpx2.Response) -> dict[str, Any]:
    return {name: value for name, value in response.extensions.items() if name in ("http_version", "reason_phrase")}


class _Watched(httpx2.AsyncByteStream):
    """A stream that is kept beside being passed on, and observed before its end is told, or when it breaks off."""

    def __init__(self, stream: Any, observe: Callable[[bytes], Any]) -> None:
        self._stream = stream
        self._observe: Callable[[bytes], Any] | None = observe
        self._kept = bytearray()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            if len(self._kept) < LONGEST_BODY:
                self._kept += part
            yield part
        await self.tell()

    async def tell(self) -> None:
        observe, self._observe = self._observe, None
        if observe is not None:
            await observe(bytes(self._kept))

    async def aclose(self) -> None:
        try:
            await self.tell()
        finally:
            await self._stream.aclose()


async def _read_bounded(response: httpx2.Response) -> bytes:
    """The whole body, decoded; at most ``LONGEST_BODY``."""
    kept = bytearray()
    try:
        async for part in response.aiter_bytes():
            kept += part
            if len(kept) > LONGEST_BODY:
                raise httpx2.ReadError("The answer is too long.")
    finally:
        await response.aclose()
    return bytes(kept)


def read_retry_after(value: str, *, now: datetime) -> timedelta | None:
    """Seconds or an HTTP date (RFC 9110, 10.2.3), at most five minutes; ``None`` where it says nothing usable."""
    try:
        wait = timedelta(seconds=float(value)) if value[:1].isdigit() else parsedate_to_datetime(value) - now
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(wait, timedelta(0)), LONGEST_RETRY_AFTER)
