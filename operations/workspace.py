"""This workspace's identity and task queue, fixed at the first start."""

import hashlib
import shutil
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.database import writer
from operations.errors import NotConfigured, WorkspaceMismatch
from operations.models import WorkerRuntimeHeartbeat, Workspace
from operations.settings_store import read_marker, store_marker

FORMER = "former_identities"


def describe_database() -> str:
    """The resolved database without credentials."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:{config['NAME']}"
    return f"{connection.vendor}:{config['HOST'] or 'local'}:{config['PORT'] or ''}/{config['NAME']}"


def compute_identity() -> str:
    """SHA-256 over the resolved database (without credentials) and the resolved home."""
    return hashlib.sha256(f"{describe_database()}\n{settings.JOBCTRL_HOME.root}".encode()).hexdigest()


def ensure_workspace() -> Workspace:
    """The stored identity, made on the first start.

    Raises ``WorkspaceMismatch`` where database and home are not the pair that was stored: a
    copied or moved workspace must be confirmed by its operator before it works.
    """
    found = Workspace.objects.order_by("created_at").first()
    identity = compute_identity()
    if found is None:
        with writer():
            found, _ = Workspace.objects.get_or_create(
                identity=identity,
                defaults={
                    "task_queue": f"jobctrl-{settings.TENANT_ID}-{identity[:8]}",
                    "database": describe_database(),
                    "home": str(settings.JOBCTRL_HOME.root),
                },
            )
    if found.identity != identity:
        raise WorkspaceMismatch(
            f"This database belongs to the workspace at {found.home}, not {settings.JOBCTRL_HOME.root}. "
            "Set JOBCTRL_HOME back, or use another DATABASE_URL; a workspace that moved here is restored from its "
            "backup: manage.py restore FOLDER --moved"
        )
    return found


def adopt_workspace() -> str:
    """Make the stored workspace the one that lives here, after its operator said that it moved.

    It keeps its task queue, since its histories wait there, and knows its former identity as its own: work that was
    dispatched under it goes on. Returns the former identity, "" where nothing had moved. Inside ``writer()``.
    """
    found = Workspace.objects.order_by("created_at").first()
    identity = compute_identity()
    if found is None or found.identity == identity:
        return ""
    former = found.identity
    store_marker(FORMER, sorted({*list_former_identities(), former} - {identity}))
    Workspace.objects.filter(identity=former).update(
        identity=identity, database=describe_database(), home=str(settings.JOBCTRL_HOME.root)
    )
    return former


def list_former_identities() -> list[str]:
    return list(read_marker(FORMER, default=[]))


def is_own_identity(identity: str) -> bool:
    """This workspace's identity, or one that it had before it was moved.

    ``ensure_workspace`` has compared the stored one with what is computed here before any work is taken.
    """
    return identity == compute_identity() or identity in list_former_identities()


def find_foreign_worker() -> WorkerRuntimeHeartbeat | None:
    """A live worker of another workspace on this database: two must never share one."""
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    rows = WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
    return rows.exclude(workspace_identity=compute_identity()).first()


def refuse_foreign_worker() -> None:
    """Raise ``WorkspaceMismatch`` while another workspace's worker is alive on this database."""
    other = find_foreign_worker()
    if other is not None:
        raise WorkspaceMismatch(
            f"A worker of another workspace ({other.task_queue}, process {other.process_id}) uses this database. "
            "Stop it first, or give this workspace a database of its own."
        )


def check_free_space() -> int:
    """Free megabytes in the home; raises ``NotConfigured`` below the stated minimum."""
    free = shutil.disk_usage(settings.JOBCTRL_HOME.root).free // 1_000_000
    if free < settings.JOBCTRL_MINIMUM_FREE_MB:
        raise NotConfigured(
            f"Only {free} MB are free in {settings.JOBCTRL_HOME.root}; {settings.JOBCTRL_MINIMUM_FREE_MB} MB are "
            "needed before work starts. Free some space, or lower JOBCTRL_MINIMUM_FREE_MB."
        )
    return free
