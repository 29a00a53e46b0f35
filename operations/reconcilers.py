"""The engine's own: projections that fell behind catch up; runs are asked about where our records may be wrong."""

from operations.folding.engine import catch_up, list_failing_apps, list_flagged_apps
from operations.reconciling import at_startup, on_heartbeat
from operations.services.reconciliation import reconcile_runs


@at_startup
def resume_interrupted_rebuilds() -> int:
    return sum(catch_up(app) for app in list_flagged_apps())


@on_heartbeat
def catch_up_projections() -> int:
    return sum(catch_up(app) for app in list_failing_apps())


on_heartbeat(reconcile_runs)
