"""``python -m tests.benchmarks.bare_worker ADDRESS``: serves the bare workflow with the product's numbers of slots."""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from tests.benchmarks.bare_workflow import QUEUE, BareInput, BareWorkflow, bare_check, bare_start, bare_step

SLOTS = 4
LOCAL_SLOTS = 2


@activity.defn(name="bare_end")
def bare_end(given: BareInput) -> None:
    """One byte for each workflow that has come this far: the waiting side counts them without asking the server."""
    descriptor = os.open(os.environ["BENCH_DONE_FILE"], os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, b".")
    finally:
        os.close(descriptor)


async def main(address: str) -> None:
    client = await Client.connect(address)
    worker = Worker(
        client,
        task_queue=QUEUE,
        workflows=[BareWorkflow],
        activities=[bare_start, bare_check, bare_step, bare_end],
        activity_executor=ThreadPoolExecutor(SLOTS + LOCAL_SLOTS),
        max_concurrent_activities=SLOTS,
        max_concurrent_local_activities=LOCAL_SLOTS,
    )
    await worker.run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
