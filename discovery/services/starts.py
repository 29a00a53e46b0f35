"""Starting a discovery run."""

from collections.abc import Sequence

from django.conf import settings

from discovery.contracts import DiscoverInput
from discovery.queries import find_newest_profile_version
from operations.services.starts import Started, StartRequest, check_worker_ready, find_receipt, start_workflow
from operations.workspace import ensure_workspace


def start_discovery(*, families: Sequence[str] = (), idempotency_key: str = "") -> Started:
    """Start the one discovery run, or attach to the one that is running."""
    asked = f"discover families={','.join(sorted(families))}"
    if (known := find_receipt(idempotency_key, asked=asked)) is not None:
        return known
    check_worker_ready()
    version = find_newest_profile_version()
    return start_workflow(
        StartRequest(
            "DiscoverWorkflow",
            f"discover-{settings.TENANT_ID}",
            DiscoverInput(version, ensure_workspace().identity, settings.TENANT_ID, tuple(families)),
            {"families": ",".join(families) or "all", "profileVersion": str(version)},
        ),
        idempotency_key=idempotency_key,
        asked=asked,
    )
