"""A provider that refuses the account (401, 402, "out of credit") makes its lanes wait instead of burning attempts."""

from datetime import datetime, timedelta

from operations.database import require_write, writer
from operations.eventlog import append
from operations.events import ProviderPausedEvent, ProviderResumed
from operations.llm.errors import ProviderPaused
from operations.models import ProviderBreaker

FIRST_PROBE = timedelta(minutes=1)
LONGEST = timedelta(hours=6)


def wait_before_probe(probes: int) -> timedelta:
    """One minute, then twice as long each time, at most six hours."""
    doubled: int = 2 ** min(probes, 12)
    return min(LONGEST, FIRST_PROBE * doubled)


def admit_provider(provider: str, *, now: datetime) -> None:
    """Raises ``ProviderPaused`` while the provider is paused; once its time has come, exactly one attempt may probe.

    Inside ``writer()``.
    """
    require_write()
    row = ProviderBreaker.objects.filter(provider=provider).first()
    if row is None:
        return
    if now < row.next_probe_at:
        raise ProviderPaused(
            f"{provider} refuses this account for now. Its key and credit need a look. "
            "After a while it is asked again.",
            until=row.next_probe_at,
        )
    row.probes += 1
    row.next_probe_at = now + wait_before_probe(row.probes)
    row.save(update_fields=["probes", "next_probe_at"])


def pause_provider(provider: str, *, reason_code: str, http_status: int | None, now: datetime) -> None:
    """The provider has refused the account; one notice however many calls say so."""
    with writer():
        _, is_new = ProviderBreaker.objects.get_or_create(
            provider=provider,
            defaults={
                "reason_code": reason_code,
                "http_status": http_status,
                "opened_at": now,
                "next_probe_at": now + wait_before_probe(0),
            },
        )
        if is_new:
            append(ProviderPausedEvent(provider=provider, reason_code=reason_code))


def resume_provider(provider: str, *, asked_at: datetime) -> None:
    """The provider has answered what it was asked then. Only a probe is asked after the refusal: answers to what was
    asked before it say nothing of the account as it is since."""
    if not ProviderBreaker.objects.filter(provider=provider, opened_at__lte=asked_at).exists():
        return
    with writer():
        deleted, _ = ProviderBreaker.objects.filter(provider=provider, opened_at__lte=asked_at).delete()
        if deleted:
            append(ProviderResumed(provider=provider))
