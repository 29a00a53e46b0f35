"""A discovery run whose workflow was ended from outside (terminated, timed out) is ended in our records too."""

from discovery.contracts import DiscoveryEnd
from discovery.queries import list_runs_in_progress
from discovery.services.runs import end_run
from operations.contracts import RunStatus
from operations.ended_runs import has_run_ended
from operations.queries import find_run, list_open_steps
from operations.reconciling import on_heartbeat
from operations.services.steps import fail_step

MOST_RUNS = 20


@on_heartbeat
def end_abandoned_runs() -> int:
    """A run that ends by itself records its own end first, so only one that could not is found here."""
    changes = 0
    for ref in list_runs_in_progress(limit=MOST_RUNS):
        run = find_run(ref.run_id)
        if run is None or not has_run_ended(ref.run_id):
            continue
        code = "" if run.status == RunStatus.SUCCEEDED else run.error_code or run.status
        for kind, item_key, attempt in list_open_steps(ref):
            fail_step(ref, kind, error_code=code or "RUN_ENDED", item_key=item_key, attempt=attempt)
        end_run(DiscoveryEnd(ref, code, {}))
        changes += 1
    return changes
