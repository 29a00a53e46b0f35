"""The engine's own: projections that fell behind catch up."""

from operations.folding.engine import catch_up, list_failing_apps, list_flagged_apps
from operations.reconciling import at_startup, on_heartbeat


@at_startup
def resume_interrupted_rebuilds() -> int:
    return sum(catch_up(app) for app in list_flagged_apps())


@on_heartbeat
def catch_up_projections() -> int:
    return sum(catch_up(app) for app in list_failing_apps())
