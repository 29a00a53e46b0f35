"""What startup and heartbeat look for: "what should not be so?", declared by each app's ``reconcilers.py``."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)

Reconcile = Callable[[], int]
_startup: list[Reconcile] = []
_heartbeat: list[Reconcile] = []


def at_startup(reconcile: Reconcile) -> Reconcile:
    """Run once, before a worker accepts work. Returns the number of changes it made."""
    _startup.append(reconcile)
    return reconcile


def on_heartbeat(reconcile: Reconcile) -> Reconcile:
    """Run at startup and every 15 seconds; bounded and idempotent."""
    _heartbeat.append(reconcile)
    return reconcile


def run_reconcilers(*, startup: bool) -> dict[str, int]:
    """Run what is declared; one that raises is logged by type and does not stop the others."""
    changes: dict[str, int] = {}
    for reconcile in [*(_startup if startup else []), *_heartbeat]:
        name = f"{reconcile.__module__}.{reconcile.__name__}"
        try:
            changes[name] = reconcile()
        except Exception as error:
            log.error("reconciler %s raised %s", name, type(error).__name__)
            changes[name] = -1
    return changes
