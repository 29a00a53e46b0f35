"""What a discovery run may no longer do once it has ended or was asked to stop.

Temporal tells a thread of a cancellation with a heartbeat; by then the run may long have ended.
"""

from operations.contracts import ExecutionRef
from operations.ended_runs import check_run


def make_discovery_end_key(run_id: str) -> str:
    """Logged before the run's authoritative end, which may wait some seconds for who asked for it."""
    return f"discovery:{run_id}:ended"


def check_discovery(ref: ExecutionRef) -> None:
    """Before anything is stored or started in the run's name; raises ``RunStopped``."""
    check_run(ref.run_id, own_ends=[make_discovery_end_key(ref.run_id)])
