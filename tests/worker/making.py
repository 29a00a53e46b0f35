"""Making workspaces: a copy of the migrated database, a namespace of its own, and the folder that holds them."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from tests.template import Template
from tests.worker.workspace import Workspace


def register_namespace(address: str) -> str:
    """A namespace of its own: workflow ids such as ``discover-local`` are one workspace's."""
    name = f"ws-{uuid4().hex[:12]}"

    async def register() -> None:
        client = await Client.connect(address)
        request = RegisterNamespaceRequest(namespace=name)
        request.workflow_execution_retention_period.FromTimedelta(timedelta(days=90))
        await client.workflow_service.register_namespace(request)

    asyncio.run(register())
    return name


@contextmanager
def new_workspace(
    folder: Path, *, template: Template, temporal_address: str, allow: Sequence[str] = ()
) -> Iterator[Workspace]:
    """``allow``: hosts with ports that the gateway may reach although they are on loopback."""
    home = folder / "home"
    home.mkdir(mode=0o700, parents=True)
    with template.copied(home) as url:
        workspace = Workspace(
            home=home,
            database_url=template.url and url,
            temporal_address=temporal_address,
            namespace=register_namespace(temporal_address) if temporal_address else "",
            environment={"JOBCTRL_ALLOW_PRIVATE_HOSTS": ",".join(allow)},
        )
        try:
            yield workspace
        finally:
            workspace.close()
