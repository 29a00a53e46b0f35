"""The source registry: which boards are crawled."""

from django.conf import settings
from django.utils import timezone

from discovery.events import SourceRegistryEntryCreated, SourceRegistryEntryUpdated, SourceStateChanged
from discovery.identity import normalise_url
from discovery.models import SourceRegistryEntry
from discovery.sources.base import check_board_token, get_source
from discovery.sources.bundled import FAMILY, list_bundled_boards
from discovery.storable import fit_line
from operations.database import writer
from operations.errors import OperationsError
from operations.eventlog import append

BASE_URL_LIMIT = 400


class UnknownEntry(OperationsError):
    """There is no such source."""

    code = "not_found"


class SourceRefused(OperationsError):
    """The source cannot be registered."""

    code = "source_refused"

    @property
    def field(self) -> str:
        return self.message.partition(": ")[0]

    @property
    def reason(self) -> str:
        return self.message.partition(": ")[2]


def register_source(kind: str, board: str, *, base_url: str = "", label: str = "") -> str:
    """Add one board to what is crawled; returns its id, "kind:board". Adding it again changes nothing.

    Raises ``SourceRefused`` naming the field and the reason. ``base_url`` is for self-hosted boards;
    a private address also needs ``JOBCTRL_ALLOW_PRIVATE_HOSTS``.
    """
    try:
        source = get_source(kind)
    except LookupError as error:
        raise SourceRefused(f"kind: {error}") from None
    try:
        check_board_token(board)
    except ValueError as error:
        raise SourceRefused(f"board: {error}") from None
    if base_url:
        _check_base_url(base_url)
    return _create(f"{kind}:{board}", kind, board, source.family, base_url.rstrip("/"), label)


def _check_base_url(base_url: str) -> None:
    if not base_url.startswith(("https://", "http://")):
        raise SourceRefused("base_url: it must start with https:// or http://")
    if len(base_url) > BASE_URL_LIMIT:
        raise SourceRefused(f"base_url: it is longer than {BASE_URL_LIMIT} characters")
    try:
        normalise_url(base_url)
    except ValueError as error:
        raise SourceRefused(f"base_url: {error}") from None


def register_bundled_sources() -> list[str]:
    """Register the sample boards that ship with the project, as the family ``bundled``."""
    return [
        _create(f"{FAMILY}:{board.kind}-{board.board}", board.kind, board.board, FAMILY, "", board.company)
        for board in list_bundled_boards()
    ]


def _create(source_id: str, kind: str, board: str, family: str, base_url: str, label: str) -> str:
    now = timezone.now()
    with writer():
        _, created = SourceRegistryEntry.objects.get_or_create(
            id=source_id,
            defaults={
                "tenant_id": settings.TENANT_ID,
                "kind": kind,
                "board": board,
                "family": family,
                "base_url": base_url,
                "label": fit_line(label, limit=120),
                "created_at": now,
                "updated_at": now,
            },
        )
        if created:
            append(SourceRegistryEntryCreated(source_id=source_id, kind=kind, family=family))
    return source_id


def set_source_enabled(source_id: str, *, enabled: bool) -> None:
    """From the next run on. Raises ``UnknownEntry``; what is so already stays so without an event."""
    with writer():
        # PostgreSQL refuses even to look for a NUL.
        entry = None if "\x00" in source_id else SourceRegistryEntry.objects.filter(id=source_id).first()
        if entry is None:
            raise UnknownEntry
        if entry.enabled == enabled:
            return
        SourceRegistryEntry.objects.filter(id=source_id).update(enabled=enabled, updated_at=timezone.now())
        append(SourceRegistryEntryUpdated(source_id=source_id, enabled=enabled))


def record_source_state(source_id: str, *, state: str, error_code: str = "") -> None:
    """Note how a source answered; an event only where that changed. Joins the caller's ``writer()``."""
    with writer():
        entry = SourceRegistryEntry.objects.get(id=source_id)
        if entry.state == state and entry.error_code == error_code:
            return
        append(SourceStateChanged(source_id=source_id, from_state=entry.state, to_state=state, error_code=error_code))
        entry.state, entry.error_code, entry.updated_at = state, error_code, timezone.now()
        entry.save(update_fields=["state", "error_code", "updated_at"])
