"""A discovery run whose workflow was ended from outside (terminated, timed out) is ended in our records too."""

from discovery.contracts import DiscoveryEnd
from discovery.queries import iter_runs_in_progress
from discovery.services.runs import end_run
from operations.contracts import RunStatus
from operations.ended_runs import list_ended_runs
from operations.queries import find_run
from operations.reconciling import on_heartbeat

MOST_ENDS = 20


@on_heartbeat
def end_abandoned_runs() -> int:
    """A run that ends by itself records its own end first, so only one that could not is found here.

    However many are in progress, or have an end that is only assumed, none is passed over for them.
    """
    changes = 0
    for page in iter_runs_in_progress():
        ended = list_ended_runs([ref.run_id for ref in page])
        for ref in page:
            run = find_run(ref.run_id) if ref.run_id in ended else None
            if run is None:
                continue
            code = "" if run.status == RunStatus.SUCCEEDED else run.error_code or run.status
            end_run(DiscoveryEnd(ref, code, {}))
            changes += 1
            if changes == MOST_ENDS:
                return changes
    return changes
