"""A fit report in one or two plain sentences."""

from collections.abc import Iterable, Sequence

from scoring.builtin.verdict import Verdict, join_names
from scoring.contracts import Fit, Requirement, RequirementFit, Tier

_GAP_KINDS = ("skill", "experience", "education", "language")
_LONGEST_NAME = 60


def write_summary(pairs: Sequence[tuple[Requirement, Verdict]]) -> str:
    """What fits, then what stands in the way."""
    ranked = sorted(pairs, key=lambda pair: -pair[0].weight * (1.25 if pair[0].tier is Tier.MUST else 1.0))
    role = next((verdict for requirement, verdict in pairs if requirement.kind == "role"), None)
    fits = _list_fits(ranked, is_same_work=role is None or role.fit is not Fit.MISSING)
    blocked = [name for _, verdict in pairs if verdict.fit is Fit.BLOCKED for name in verdict.absent]
    gaps = _list_gaps(ranked, fits)
    first = _write_opening(role, fits)
    if blocked:
        return f"{first} Required and not shown: {join_names(blocked)}."
    if gaps:
        return f"{first} Main gaps: {join_names(gaps)}."
    return f"{first} No gap among the requirements that could be read." if fits else first


def summarize_items(items: Iterable[RequirementFit]) -> str:
    """As ``write_summary``, for a report that another engine made."""
    pairs = []
    for item in items:
        names = _name_requirement(item.requirement)
        is_shown = item.fit in (Fit.DIRECT, Fit.STRONG)
        shown, absent = (names, ()) if is_shown else ((), names)
        pairs.append((item.requirement, Verdict(item.fit, item.evidence_ids, item.reason, shown, absent)))
    return write_summary(pairs)


def _name_requirement(asked: Requirement) -> tuple[str, ...]:
    if asked.terms and asked.kind != "role":
        return asked.terms
    text = " ".join(asked.text.split()).rstrip(".;,")
    return (text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME].rsplit(' ', 1)[0]}…",)


def _list_fits(ranked: Sequence[tuple[Requirement, Verdict]], *, is_same_work: bool) -> list[str]:
    """A degree or a language is worth naming only where the work itself is near."""
    left_out = ("role",) if is_same_work else ("role", "education", "language")
    names = [
        name
        for requirement, verdict in ranked
        if requirement.kind not in left_out and verdict.fit in (Fit.DIRECT, Fit.STRONG)
        for name in verdict.shown
    ]
    return list(dict.fromkeys(names))


def _list_gaps(ranked: Sequence[tuple[Requirement, Verdict]], fits: Sequence[str]) -> list[str]:
    names = [
        name
        for requirement, verdict in ranked
        if requirement.tier is Tier.MUST and requirement.kind in _GAP_KINDS
        for name in verdict.absent
        if name not in fits
    ]
    return list(dict.fromkeys(names))


def _write_opening(role: Verdict | None, fits: list[str]) -> str:
    names = join_names(fits)
    if role is not None and role.fit is Fit.MISSING:
        start = f"Not the kind of work the profile shows ({join_names(role.absent)})"
        return f"{start}; in common: {names}." if names else f"{start}."
    if role is not None and role.fit is Fit.TRANSFERABLE:
        return (
            f"Related work; the profile shows {names}."
            if names
            else "Related work, with little shown of what is asked."
        )
    if names:
        return f"Fits in {names}."
    if role is not None and role.shown:
        return "The kind of work fits, but little else of what is asked is shown."
    return "Little of what is asked is shown in the profile."
