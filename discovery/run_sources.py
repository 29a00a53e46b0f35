"""How the boards of one run ended, in words: for the run's page, and for why it failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discovery.board_words import PASSES_BY_ITSELF, describe_failure
from discovery.models import DiscoveryRunSource, SourceRegistryEntry
from discovery.sources.base import SOURCES
from discovery.sources.bundled import FAMILY as BUNDLED
from discovery.views.sources import word_reading
from operations.run_panels import RunFacts
from operations.wording import Tone, Wording, count_of

MOST_SHOWN: Final = 200
MOST_NAMED: Final = 3
NEXT_RUN: Final = "The next run reads it again."
#: Codes that a run may end with because of a board; with any other its boards are not why.
OF_BOARDS: Final = frozenset(
    {"source_unavailable", "transient_network", "missing_input", "authentication", "configuration"}
)
_NOT_READ: Final = {
    True: Wording("Not read yet", Tone.WAITING, "It is read in this run."),
    False: Wording("Not read", Tone.IDLE, "The run ended before its turn. " + NEXT_RUN),
}


@dataclass(frozen=True, slots=True)
class ShownSource:
    name: str
    where: str
    state: Wording
    remedy: str
    counts: str


def list_run_sources(run: RunFacts) -> list[ShownSource]:
    """Those that failed first; at most 200. Two index ranges."""
    rows = list(DiscoveryRunSource.objects.filter(run_id=run.run_id).order_by("source_id")[:MOST_SHOWN])
    entries = _map_entries(rows)
    rows.sort(key=lambda row: (row.state != "failed", row.retryable))
    return [_show(row, entries.get(row.source_id), is_open=run.is_open) for row in rows]


def _map_entries(rows: Sequence[DiscoveryRunSource]) -> dict[str, SourceRegistryEntry]:
    return SourceRegistryEntry.objects.in_bulk([row.source_id for row in rows])


def _show(row: DiscoveryRunSource, entry: SourceRegistryEntry | None, *, is_open: bool) -> ShownSource:
    state = describe_outcome(row.state, row.error_code, retryable=row.retryable, is_open=is_open)
    kind = entry.kind if entry else row.source_id.partition(":")[0]
    label = SOURCES[kind].label if kind in SOURCES else kind
    return ShownSource(
        name_board(row.source_id, entry),
        f"{label} sample" if row.family == BUNDLED else label,
        state,
        state.sentence if row.state == "failed" else "",
        word_reading(row.counts),
    )


def name_board(source_id: str, entry: SourceRegistryEntry | None) -> str:
    """As the person called it; a board that is not registered any more keeps its token."""
    return (entry.label or entry.board) if entry else source_id.partition(":")[2]


def describe_outcome(state: str, code: str, *, retryable: bool, is_open: bool) -> Wording:
    """Amber for what is read again without a person; red for what is not."""
    if state == "pending":
        return _NOT_READ[is_open]
    if state != "failed":
        return Wording("Read", Tone.GOOD)
    failure = describe_failure(code)
    if is_open and retryable:
        return Wording(failure.word, Tone.WAITING, failure.sentence)
    return failure if failure.tone is Tone.PERSON else Wording(failure.word, failure.tone, NEXT_RUN)


def explain_failed_runs(runs: Sequence[RunFacts]) -> dict[str, Wording]:
    """Which boards made these runs fail; one index range, and one for the boards' names."""
    wanted = [run.run_id for run in runs if run.error_code in OF_BOARDS]
    rows = list(DiscoveryRunSource.objects.filter(run_id__in=wanted, state="failed").order_by("source_id"))
    entries = _map_entries(rows)
    found: dict[str, list[DiscoveryRunSource]] = {}
    for row in sorted(rows, key=lambda row: row.error_code in PASSES_BY_ITSELF):
        found.setdefault(row.run_id, []).append(row)
    return {run_id: _explain(failed, entries) for run_id, failed in found.items()}


def _explain(failed: Sequence[DiscoveryRunSource], entries: dict[str, SourceRegistryEntry]) -> Wording:
    """``failed``: what only a person can mend comes first."""
    states = [describe_outcome("failed", row.error_code, retryable=row.retryable, is_open=False) for row in failed]
    names = [name_board(row.source_id, entries.get(row.source_id)) for row in failed]
    reasons = [state.word.removeprefix("Failed: ") for state in states]
    tone = states[0].tone
    if len(failed) == 1:
        return Wording(f"Failed: {names[0]}: {reasons[0]}", tone, states[0].sentence)
    told = [f"{name}: {reason}." for name, reason in zip(names, reasons, strict=True)][:MOST_NAMED]
    left = len(failed) - len(told)
    more = f" And {left:,} more." if left else ""
    return Wording(f"Failed: {count_of(len(failed), 'board')} could not be read", tone, " ".join(told) + more)
