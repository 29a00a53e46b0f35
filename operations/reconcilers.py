"""The engine's own: projections that fell behind catch up; runs are asked about where our records may be wrong."""

from datetime import timedelta

from operations.folding.engine import catch_up, list_failing_apps, list_flagged_apps
from operations.reconciling import at_startup, on_heartbeat
from operations.services.frozen_starts import repeat_starts
from operations.services.missing_runs import rebuild_missing_runs
from operations.services.owner_recovery import recover_owners
from operations.services.reconciliation import reconcile_every_run, reconcile_runs
from operations.services.workers import prune_heartbeats


@at_startup
def resume_interrupted_rebuilds() -> int:
    return sum(catch_up(app) for app in list_flagged_apps())


@at_startup
def forget_old_workers() -> int:
    return prune_heartbeats(older_than=timedelta(days=7))


@on_heartbeat
def catch_up_projections() -> int:
    return sum(catch_up(app) for app in list_failing_apps())


@on_heartbeat
def ask_paused_providers() -> int:
    from operations.services.providers import start_asking_due_providers  # every command would wait for its imports

    return start_asking_due_providers()


at_startup(reconcile_every_run)
on_heartbeat(reconcile_runs)
on_heartbeat(recover_owners)
on_heartbeat(repeat_starts)
on_heartbeat(rebuild_missing_runs)  # last: what it finds may take a whole rebuild
