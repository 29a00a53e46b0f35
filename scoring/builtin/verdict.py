"""What one comparison found, before it becomes part of a report."""

from dataclasses import dataclass

from scoring.contracts import Fit

_LADDER = (Fit.MISSING, Fit.TRANSFERABLE, Fit.STRONG, Fit.DIRECT)
MOST_CITED = 6


@dataclass(frozen=True, slots=True)
class Verdict:
    """``shown`` and ``absent`` are the names a summary may use."""

    fit: Fit
    evidence_ids: tuple[str, ...] = ()
    reason: str = ""
    shown: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def step_down(fit: Fit, *, steps: int = 1) -> Fit:
    return _LADDER[max(_LADDER.index(fit) - steps, 0)]


def take_lower(one: Fit, two: Fit) -> Fit:
    return min(one, two, key=_LADDER.index)


def join_names(names: tuple[str, ...] | list[str], *, limit: int = 4, word: str = "and") -> str:
    shown = list(names[:limit])
    if len(names) > limit:
        shown.append(f"{len(names) - limit} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}" if shown else ""


def cite(*groups: tuple[str, ...]) -> tuple[str, ...]:
    """Ids once each, the best of every group before the second best of any."""
    longest = max((len(group) for group in groups), default=0)
    ordered = [group[position] for position in range(longest) for group in groups if position < len(group)]
    return tuple(dict.fromkeys(ordered))[:MOST_CITED]
