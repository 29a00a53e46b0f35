"""Files that a crash left unregistered are removed, at startup and once an hour."""

import time

from materials.queries import filter_registered, get_artifact_files
from operations.reconciling import on_heartbeat

GRACE_SECONDS = 600  # another worker may be about to register a younger one
HOUR_SECONDS = 3600.0

_last_sweep = [float("-inf")]


@on_heartbeat
def sweep_hourly() -> int:
    """What was too young at startup is old enough at the next pass."""
    if time.monotonic() - _last_sweep[0] < HOUR_SECONDS:
        return 0
    _last_sweep[0] = time.monotonic()
    return sweep_artifact_files()


def sweep_artifact_files() -> int:
    return get_artifact_files().sweep(filter_registered, older_than_seconds=GRACE_SECONDS).removed
