"""Which backup is the newest."""

from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from operations.backup.names import MANIFEST
from operations.settings_store import read_marker, store_marker

NOTED = "last_backup"
NAME = "%Y%m%dT%H%M%SZ"


def note_backup(folder: Path, made_at: datetime) -> None:
    """Remember where the last one went: it need not lie in the home."""
    store_marker(NOTED, {"folder": str(folder), "madeAt": made_at.isoformat()})


def find_newest_backup() -> datetime | None:
    """When the newest backup that is still there was made: of those in the home and the one made last."""
    found = [made_at for folder in _list_folders() if (made_at := _read_time(folder)) is not None]
    noted = read_marker(NOTED, default={})
    if noted and (Path(noted["folder"]) / MANIFEST).is_file():
        found.append(datetime.fromisoformat(noted["madeAt"]))
    return max(found, default=None)


def _list_folders() -> list[Path]:
    try:
        return [manifest.parent for manifest in (settings.JOBCTRL_HOME.root / "backups").glob(f"*/{MANIFEST}")]
    except OSError:
        return []


def _read_time(folder: Path) -> datetime | None:
    try:
        return datetime.strptime(folder.name, NAME).replace(tzinfo=UTC)
    except ValueError:
        return None
