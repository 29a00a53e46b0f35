"""Commit in one process to receipt by clients of another's event stream: alone, and among fifty while pages are read."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from operations.processes.ports import LOOPBACK
from tests.benchmarks.figures import Figure, at_most, compute_percentile
from tests.operations.streams import EVENTS, LIVE, WebProcess, WriterProcess

EVENTS_MEASURED = 150
PAUSE_SECONDS = 0.05
CLIENTS = 50
POLLED = "/v1/jobs"
POLL_SECONDS = 0.2


def measure(jobs: int) -> Iterator[Figure]:
    yield from run(clients=1, polled="", label="idle", targets=(15, 40))
    yield from run(clients=CLIENTS, polled=POLLED, label=f"{CLIENTS} clients", targets=(25, 80))


def run(*, clients: int, polled: str, label: str, targets: tuple[float, float]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-") as folder, ExitStack() as stack:
        web = WebProcess(dict(os.environ), log=Path(folder) / "web.log")
        stack.callback(web.close)
        writer = WriterProcess(dict(os.environ))
        stack.callback(writer.close)
        token = writer.ask("token")
        web.wait_until_up()
        before = web.probe()["queries"]
        times = asyncio.run(time_receipts(web.port, writer, token=token, clients=clients, polled=polled))
        queries = (web.probe()["queries"] - before) / EVENTS_MEASURED
    yield at_most(f"commit to receipt, {label}, p50", compute_percentile(times, 50), "ms", targets[0])
    yield at_most(f"commit to receipt, {label}, p95", compute_percentile(times, 95), "ms", targets[1])
    if not polled:
        yield at_most("SQL statements of the web process an event", queries, "statements")


async def time_receipts(port: int, writer: WriterProcess, *, token: str, clients: int, polled: str) -> list[float]:
    """Milliseconds from each commit's return to each client's receipt, of all clients of the raw stream."""
    received: list[dict[int, float]] = [{} for _ in range(clients)]
    opened = [asyncio.Event() for _ in range(clients)]
    # Every fifth client is a page.
    tasks = [
        asyncio.create_task(listen(port, LIVE if number % 5 == 4 else EVENTS, token, opened[number], received[number]))
        for number in range(clients)
    ]
    for event in opened:
        await asyncio.wait_for(event.wait(), 30)
    if polled:
        tasks.append(asyncio.create_task(poll(port, polled, token)))
    committed = await asyncio.to_thread(writer.ask, "append_timed", count=EVENTS_MEASURED, pause=PAUSE_SECONDS)
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    raw = [found for number, found in enumerate(received) if number % 5 != 4]
    return [max(0.0, (found[event_id] - at) * 1000) for found in raw for event_id, at in committed]


async def listen(port: int, path: str, token: str, opened: asyncio.Event, received: dict[int, float]) -> None:
    reader, stream_writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        stream_writer.write(build_request(path, token))
        async for line in reader:
            now = time.time()
            if line.startswith(b"retry:"):
                opened.set()
            elif line.startswith(b"id: "):
                received[int(line[4:])] = now
    finally:
        stream_writer.close()


async def poll(port: int, path: str, token: str) -> None:
    while True:
        reader, stream_writer = await asyncio.open_connection(LOOPBACK, port)
        with suppress(ConnectionError):
            stream_writer.write(build_request(path, token))
            await reader.read()
        stream_writer.close()
        await asyncio.sleep(POLL_SECONDS)


def build_request(path: str, token: str) -> bytes:
    """HTTP/1.0, so that the answer is neither cut in chunks nor followed by another."""
    return f"GET {path} HTTP/1.0\r\nHost: {LOOPBACK}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
