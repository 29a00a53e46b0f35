"""Making workspaces: a migrated database to copy, a namespace of its own, and the folder that holds them."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from tests.postgres import own_database
from tests.worker.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Template:
    """A migrated, empty database that workspaces are copied from. ``url`` is "" on SQLite."""

    file: Path
    url: str = ""


@contextmanager
def migrated_template(folder: Path) -> Iterator[Template]:
    with own_database(os.environ.get("DATABASE_URL", "")) as url:
        home = folder / "template"
        home.mkdir()
        workspace = Workspace(home=home, database_url=url, temporal_address="", namespace="")
        done = workspace.manage_anew("migrate", "--verbosity", "0")
        assert done.returncode == 0, done.stderr
        yield Template(home / "jobctrl.db", url)


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
    with own_database(template.url, template=template.url.rpartition("/")[2]) as url:
        if not url:
            shutil.copyfile(template.file, home / "jobctrl.db")
        workspace = Workspace(
            home=home,
            database_url=url,
            temporal_address=temporal_address,
            namespace=register_namespace(temporal_address) if temporal_address else "",
            environment={"JOBCTRL_ALLOW_PRIVATE_HOSTS": ",".join(allow)},
        )
        try:
            yield workspace
        finally:
            workspace.close()
