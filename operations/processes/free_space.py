"""A full disk is refused before work starts, not found out in the middle of it."""

import shutil
from pathlib import Path

MEGABYTE = 1024 * 1024


class DiskFull(RuntimeError):
    """The workspace's disk has less than the stated minimum left."""


def require_free_space(root: Path, *, minimum_mb: int) -> None:
    """Raises:
    DiskFull: with what is free, what is wanted and the remedy.
    """
    free_mb = shutil.disk_usage(root).free // MEGABYTE
    if free_mb < minimum_mb:
        raise DiskFull(
            f"The disk of {root} has {free_mb} MB left, less than the {minimum_mb} MB that jobctrl wants before it "
            "starts. Free some space, set JOBCTRL_HOME to another disk, or lower JOBCTRL_MINIMUM_FREE_MB."
        )
