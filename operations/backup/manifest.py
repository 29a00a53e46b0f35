"""What a backup says of itself: ``manifest.json``."""

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from operations.backup.errors import BackupDamaged, RestoreRefused
from operations.backup.names import MANIFEST, POSTGRES_FILE, SECRET_KEY_FILE, SQLITE_FILE, TEMPORAL_FILE

FORMAT: Final = 1
MANIFEST_LIMIT = 200_000_000


class BackedUpFile(BaseModel):
    """``path`` is below the backup's folder, ``size`` in bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @field_validator("path")
    @classmethod
    def refuse_outside(cls, path: str) -> str:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\\" in path or parts[0] not in ALLOWED:
            raise ValueError("it is not the path of a file that a backup holds")
        return path


ALLOWED = frozenset({SQLITE_FILE, POSTGRES_FILE, TEMPORAL_FILE, SECRET_KEY_FILE, "artifacts"})


class Manifest(BaseModel):
    """``missing`` are registered files that were absent or changed when the backup was made; ``drained`` counts the
    workers that paused for it. ``temporal`` is ``remote`` where the cluster is backed up by whoever runs it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    made_at: datetime
    product_version: str
    versions: dict[str, str]
    identity: str
    task_queue: str
    home: str
    database: str
    vendor: Literal["sqlite", "postgresql"]
    temporal: Literal["embedded", "remote"]
    namespace: str
    migrations: dict[str, list[str]]
    counts: dict[str, int]
    drained: int
    missing: list[str]
    files: list[BackedUpFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def find(self, path: str) -> BackedUpFile | None:
        return next((file for file in self.files if file.path == path), None)


class _Version(BaseModel):
    format: int


def read_manifest(folder: Path) -> Manifest:
    """Raises ``RestoreRefused`` where there is none or it is of another version, ``BackupDamaged`` where broken."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MANIFEST_LIMIT:
            raise BackupDamaged(f"{path} is larger than a manifest can be.")
        text = path.read_bytes()
    except OSError as error:
        raise RestoreRefused(
            f"{folder} is not a backup: its {MANIFEST} cannot be read ({error.strerror}). "
            "Name the folder that manage.py backup printed."
        ) from None
    try:
        version = _Version.model_validate_json(text).format
        if version != FORMAT:
            raise RestoreRefused(
                f"This backup has format {version}; this version of jobctrl reads format {FORMAT}. "
                "Restore it with the version that made it."
            )
        return Manifest.model_validate_json(text)
    except ValidationError:
        raise BackupDamaged(f"{path} is not a whole manifest. Use another backup.") from None
