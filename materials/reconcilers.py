"""Files that a crash left unregistered are removed at startup."""

from materials.queries import filter_registered, get_artifact_files
from operations.reconciling import at_startup

GRACE_SECONDS = 600  # another worker may be about to register a younger one


@at_startup
def sweep_artifact_files() -> int:
    return get_artifact_files().sweep(filter_registered, older_than_seconds=GRACE_SECONDS).removed
