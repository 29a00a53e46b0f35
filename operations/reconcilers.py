"""The engine's own: projections that fell behind catch up."""

from operations.folding.engine import catch_up, list_flagged_apps
from operations.reconciling import on_heartbeat


@on_heartbeat
def catch_up_projections() -> int:
    return sum(catch_up(app) for app in list_flagged_apps())
