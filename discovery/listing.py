"""Reads for the profile and the sources pages and their API."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings

from discovery.contracts import ProfileDocument
from discovery.models import CandidateProfile, DiscoveryRun, DiscoveryRunSource, JobSourceObservation
from discovery.models import SourceRegistryEntry as Entry
from discovery.profile_import import load_profile

VERSIONS_SHOWN = 50
SOURCES_SHOWN = 500
RUNS_LOOKED_AT = 10
JOBS_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class ProfileVersion:
    version: int
    imported_at: datetime
    document: ProfileDocument


def find_profile_version(version: int | None = None) -> ProfileVersion | None:
    """One version, or the newest; one index lookup."""
    rows = CandidateProfile.objects.order_by("-version")
    if version is not None:
        rows = rows.filter(version=version)
    row = rows.first()
    return None if row is None else ProfileVersion(row.version, row.imported_at, load_profile(row.document))


def list_profile_versions() -> list[tuple[int, datetime]]:
    """The newest 50 versions and when each was stored, newest first."""
    rows = CandidateProfile.objects.order_by("-version").values_list("version", "imported_at")
    return list(rows[:VERSIONS_SHOWN])


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One board. ``last_counts`` are of its last reading; ``jobs`` stops counting at 1,000."""

    id: str
    kind: str
    board: str
    family: str
    label: str
    base_url: str
    enabled: bool
    state: str
    error_code: str
    created_at: datetime
    jobs: int
    last_read_at: datetime | None = None
    last_counts: dict[str, int] = field(default_factory=dict)


def list_sources() -> list[SourceRow]:
    """Every registered board (at most 500), those that are read first. Reads the sources of the last ten runs, and
    for each board at most 1,000 index entries."""
    read = _map_last_readings()
    entries = Entry.objects.order_by("-enabled", "family", "label", "id")[:SOURCES_SHOWN]
    return [_describe(entry, read.get(entry.id)) for entry in entries]


@dataclass(frozen=True, slots=True)
class FailingSource:
    id: str
    name: str
    error_code: str
    failed_at: datetime


def list_failing_sources(*, limit: int, less: Sequence[str] = ()) -> list[FailingSource]:
    """Boards that are read and failed when last read, newest failure first, less those of some codes."""
    rows = Entry.objects.filter(enabled=True, state="failed").exclude(error_code__in=less)
    return [
        FailingSource(row.id, row.label or row.board, row.error_code, row.updated_at)
        for row in rows.order_by("-updated_at", "id")[:limit]
    ]


def find_source(source_id: str) -> SourceRow | None:
    entry = Entry.objects.filter(id=source_id).first()
    return None if entry is None else _describe(entry, _map_last_readings().get(source_id))


def has_enabled_source() -> bool:
    return Entry.objects.filter(enabled=True).exists()


def _describe(entry: Entry, reading: DiscoveryRunSource | None) -> SourceRow:
    return SourceRow(
        entry.id,
        entry.kind,
        entry.board,
        entry.family,
        entry.label,
        entry.base_url,
        entry.enabled,
        entry.state,
        entry.error_code,
        entry.created_at,
        _count_jobs(entry.id),
        reading.updated_at if reading else None,
        dict(reading.counts) if reading else {},
    )


def _map_last_readings() -> dict[str, DiscoveryRunSource]:
    runs = list(DiscoveryRun.objects.order_by("-started_at").values_list("run_id", flat=True)[:RUNS_LOOKED_AT])
    rows = DiscoveryRunSource.objects.filter(run_id__in=runs).exclude(state="pending").order_by("updated_at")
    return {row.source_id: row for row in rows}


def _count_jobs(source_id: str) -> int:
    rows = JobSourceObservation.objects.filter(tenant_id=settings.TENANT_ID, source_id=source_id)
    return rows.values("external_id")[: JOBS_COUNTED + 1].count()
