"""``python -m tests.histories``: record one history of every registered workflow, for the replay tests."""

import asyncio
import json
import os
import tempfile
from pathlib import Path

import django
from temporalio.client import Client

FOLDER = Path(__file__).parent


async def record(address: str) -> None:
    from tests.operations.workflow_runs import INPUTS, Stubs, serving, start

    client = await Client.connect(address, identity="recorder")
    async with serving(client, Stubs()):
        for name, argument in INPUTS.items():
            handle = await start(client, name, argument, run="recorded")
            await handle.result()
            history = json.loads((await handle.fetch_history()).to_json())
            (FOLDER / f"{name}.json").write_text(json.dumps(history, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    django.setup()
    from tests.temporal import running_temporal

    with tempfile.TemporaryDirectory() as folder, running_temporal(Path(folder) / "temporal.db") as server:
        asyncio.run(record(server.address))


if __name__ == "__main__":
    main()
