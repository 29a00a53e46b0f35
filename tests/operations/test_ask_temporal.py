"""What a real Temporal answers about exact runs, and what is concluded from it."""

import asyncio

import pytest
from temporalio.client import Client

from operations.queries import OpenRun
from operations.services.describing import Description, Found, describe_runs
from tests.temporal import TemporalServer

pytestmark = pytest.mark.temporal

MISSING = OpenRun("01234567-89ab-4def-8123-456789abcdef", "discover-local", "DiscoverWorkflow", False, 0)


def ask(server: TemporalServer, *, namespace: str) -> Description:
    async def describe() -> Description:
        client = await Client.connect(server.address, namespace=namespace)
        return (await describe_runs(client, [MISSING]))[0]

    return asyncio.run(asyncio.wait_for(describe(), 30))


def test_a_run_is_missing_where_its_namespace_is_known(server: TemporalServer) -> None:
    assert ask(server, namespace="default").found is Found.NOT_FOUND


def test_nothing_is_concluded_from_a_namespace_that_nobody_registered(server: TemporalServer) -> None:
    assert ask(server, namespace="defualt").found is Found.UNKNOWN
