"""``python -m tests.histories``: record how every registered workflow succeeds, fails and is canceled, on each way
through it, for the replay tests.

A history that is there already stays as it is, so that what older releases started is replayed for ever; ``NAME-END``
arguments (``DiscoverWorkflow-failed``) record those anew.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import django
from temporalio.client import Client, WorkflowFailureError

FOLDER = Path(__file__).parent
ENDS = ("succeeded", "failed", "canceled")


async def record(address: str, *, again: Collection[str]) -> None:
    from tests.operations.workflow_runs import RECORDED

    client = await Client.connect(address, identity="recorder")
    for name in RECORDED:
        for end in ENDS:
            path = FOLDER / f"{name}-{end}.json"
            if not path.exists() or path.stem in again:
                history = await record_one(client, name, end)
                path.write_text(json.dumps(history, indent=1) + "\n", encoding="utf-8")
                print(path.name)


async def record_one(client: Client, name: str, end: str) -> Any:
    """The history of a run that was refused or canceled in the middle, or of one that was not."""
    from tests.operations.workflow_runs import RECORDED, Stubs, serving, start

    recorded = RECORDED[name]
    stubs = Stubs(block=recorded.middle if end == "canceled" else "", fail=recorded.middle if end == "failed" else "")
    async with serving(client, stubs):
        handle = await start(client, stubs, recorded.workflow, recorded.given, run=f"recorded-{uuid4().hex[:8]}")
        if end == "canceled":
            await stubs.blocked.wait()
            await handle.cancel()
        with suppress(WorkflowFailureError):
            await handle.result()
    return without_traces(json.loads((await handle.fetch_history()).to_json()))


def without_traces(value: Any) -> Any:
    """Stack traces name the folders of the machine that recorded them; no replay reads them."""
    if isinstance(value, dict):
        return {key: without_traces(inner) for key, inner in value.items() if key != "stackTrace"}
    return [without_traces(inner) for inner in value] if isinstance(value, list) else value


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    django.setup()
    from tests.temporal import running_temporal

    with tempfile.TemporaryDirectory() as folder, running_temporal(Path(folder) / "temporal.db") as server:
        asyncio.run(record(server.address, again=sys.argv[1:]))


if __name__ == "__main__":
    main()
