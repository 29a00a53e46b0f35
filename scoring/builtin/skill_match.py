"""Skills asked against skills shown."""

from dataclasses import dataclass
from datetime import date

from scoring.builtin.alternatives import group_alternatives
from scoring.builtin.profile_index import ProfileIndex, Proof, get_last_year
from scoring.builtin.verdict import Verdict, cite, join_names
from scoring.builtin.vocabulary import is_soft_skill, related_skills
from scoring.builtin.wording import drop_unwanted
from scoring.contracts import Fit, Requirement

_WORTH = {Fit.DIRECT: 1.0, Fit.STRONG: 0.85, Fit.TRANSFERABLE: 0.6, Fit.MISSING: 0.0}
_DIRECT_FROM, _STRONG_FROM, _TRANSFERABLE_FROM = (
    0.95,
    0.65,
    0.25,
)  # mean worth of the groups: two of three are a strong match
_IN_USE = ("bullet", "experience", "skill")


@dataclass(frozen=True, slots=True)
class SkillFinding:
    """The best answer to one group of alternatives. ``name`` is the skill shown, or the one asked where none is."""

    name: str
    fit: Fit
    proofs: tuple[Proof, ...] = ()
    instead: str = ""  # the related skill that is shown


def find_skill(index: ProfileIndex, name: str) -> SkillFinding:
    proofs = index.proofs.get(name, ())
    own = tuple(proof for proof in proofs if not proof.through)
    if any(proof.kind in _IN_USE for proof in own):
        return SkillFinding(name, Fit.DIRECT, own + tuple(proof for proof in proofs if proof.through))
    if proofs:
        return SkillFinding(name, Fit.STRONG, proofs)
    for other in related_skills(name):
        proofs = index.proofs.get(other, ())
        if proofs:
            return SkillFinding(name, Fit.TRANSFERABLE, proofs, other)
    return SkillFinding(name, Fit.MISSING)


def find_best_skill(index: ProfileIndex, names: tuple[str, ...]) -> SkillFinding:
    findings = [find_skill(index, name) for name in names]
    best = max(findings, key=lambda finding: _WORTH[finding.fit])
    if best.fit is Fit.MISSING:
        return SkillFinding(join_names(names, limit=3, word="or"), Fit.MISSING)
    return best


def match_skills(index: ProfileIndex, requirement: Requirement, *, today: date) -> Verdict:
    findings = find_asked_skills(index, requirement)
    if not findings:
        return Verdict(Fit.MISSING, reason="No evidence in the profile.")
    worth = sum(_WORTH[finding.fit] for finding in findings) / len(findings)
    shown = [finding for finding in findings if finding.fit in (Fit.DIRECT, Fit.STRONG)]
    near = [finding for finding in findings if finding.fit is Fit.TRANSFERABLE]
    absent = [finding for finding in findings if finding.fit is Fit.MISSING]
    fit = _read_worth(worth, has_shown=bool(shown))
    parts = [describe_proofs(finding, today=today) for finding in shown[:2]]
    if len(shown) > 2:
        parts.append(f"also {join_names([finding.name for finding in shown[2:]])}")
    parts += [f"no evidence of {finding.name}; {finding.instead} is close" for finding in near[:2]]
    if absent:
        parts.append(f"no evidence of {join_names([finding.name for finding in absent])}")
    return Verdict(
        fit,
        cite(*(tuple(proof.evidence_id for proof in finding.proofs[:3]) for finding in [*shown, *near]))
        if fit is not Fit.MISSING
        else (),
        _write_sentence(parts),
        tuple(finding.name for finding in shown),
        () if all(map(is_soft_skill, requirement.terms)) else tuple(finding.name for finding in [*absent, *near]),
    )


def find_asked_skills(index: ProfileIndex, requirement: Requirement) -> list[SkillFinding]:
    groups = group_alternatives(drop_unwanted(requirement.text))
    if not groups:
        soft = tuple(name for name in requirement.terms if is_soft_skill(name))
        groups = (soft,) if soft else tuple((name,) for name in requirement.terms)
    return [find_best_skill(index, group) for group in groups]


def _read_worth(worth: float, *, has_shown: bool) -> Fit:
    if worth >= _DIRECT_FROM:
        return Fit.DIRECT
    if worth >= _STRONG_FROM and has_shown:
        return Fit.STRONG
    return Fit.TRANSFERABLE if worth >= _TRANSFERABLE_FROM else Fit.MISSING


def describe_proofs(finding: SkillFinding, *, today: date) -> str:
    """ "Django: shown in 2 bullets at Northwind, most recently 2024"."""
    through = finding.proofs[0].through
    bullets = [proof for proof in finding.proofs if proof.kind == "bullet" and through in ("", proof.through)]
    head = f"{finding.name}: shown by {through}" if through else f"{finding.name}: shown"
    if bullets:
        count = f"{len(bullets)} bullet{'s' if len(bullets) > 1 else ''}"
        return f"{head} in {count}{_describe_place(bullets, today=today)}"
    first = finding.proofs[0]
    if first.kind == "experience" and first.stint is not None:
        return f"{head} as {first.stint.position}{_describe_place([first], today=today)}"
    words = {
        "skill": "listed among the skills",
        "credential": "named in a credential",
        "education": "part of the studies",
    }
    place = words.get(first.kind, "named in the summary")
    return f"{head} ({place})" if through else f"{finding.name}: {place}"


def _describe_place(proofs: list[Proof], *, today: date) -> str:
    stints = list({proof.stint.evidence_id: proof.stint for proof in proofs if proof.stint is not None}.values())
    if not stints:
        return ""
    stints.sort(key=lambda stint: -stint.end)
    latest = stints[0]
    names = list(dict.fromkeys(stint.organization or stint.position for stint in stints))
    where = f" at {join_names(names, limit=2)}"
    if latest.start is None:
        return where
    year = get_last_year(latest, today=today)
    return f"{where}, to the present" if year is None else f"{where}, most recently {year}"


def _write_sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
