"""The title, years, degrees, languages and papers asked against the profile's."""

import re
from datetime import date

from scoring.builtin import facts
from scoring.builtin.profile_index import ProfileIndex, School, Stint, count_months, list_work
from scoring.builtin.roles import compare_roles, compare_titles, find_roles, get_years_expected, list_role_skills
from scoring.builtin.skill_match import find_asked_skills, find_skill
from scoring.builtin.verdict import MOST_CITED, Verdict, join_names, step_down, take_lower
from scoring.builtin.vocabulary import is_soft_skill
from scoring.contracts import Fit, Requirement, Tier

_SIMILAR_TITLE, _RELATED_TITLE = 78.0, 62.0
_LONGEST_TITLE = 60
_NEARLY, _PARTLY = 0.75, 0.4  # of the years asked
_BASIC_LANGUAGE = re.compile(r"\b(?:A[12]|basic|elementary|beginner|grundkenntnisse|notions|limited)\b", re.IGNORECASE)
_HIGH_LANGUAGE = re.compile(
    r"\b(?:C[12]|native|fluen\w*|bilingual|mother tongue|verhandlungssicher|fließend|business)\b", re.IGNORECASE
)
_OBTAINABLE = re.compile(
    r"\b(?:ability|able|eligible|willing\w*) (?:to|for)\b.{0,30}\b(?:obtain|get|hold|"
    r"acquire|clearance)|\bwithin \w+ (?:months|days|weeks)\b",
    re.IGNORECASE,
)
_PROFESSIONAL = re.compile(
    r"\b(?:RN|LPN|CNA|registered nurse|practical|nurs\w+|medical|pharmac\w+|CPA|bar|"
    r"attorney|physician|teaching|CDL|class [ABC]|professional engineer|real estate|"
    r"insurance|electrician\w*|clinical|plumb\w+)\b|看護師",
    re.IGNORECASE,
)
_DEGREE_NAMES = {
    1: "a school diploma",
    2: "an associate degree",
    3: "a bachelor's degree",
    4: "a master's degree",
    5: "a doctorate",
}


def match_role(index: ProfileIndex, requirement: Requirement, *, today: date) -> Verdict:
    wanted = find_roles(requirement.text)
    name = requirement.text if len(requirement.text) <= _LONGEST_TITLE else f"{requirement.text[:_LONGEST_TITLE]}…"
    ranked = [(stint, _compare_stint(requirement.text, wanted, stint)) for stint in index.stints]
    fit = Fit.MISSING
    for level in (Fit.DIRECT, Fit.STRONG, Fit.TRANSFERABLE):
        near = [stint for stint, found in ranked if found is level]
        if near:
            fit = level
            break
    else:
        return Verdict(Fit.MISSING, reason=f"No experience as {name} or in work close to it.", absent=(name,))
    latest = max(near, key=lambda stint: stint.end)
    ids = tuple(stint.evidence_id for stint in near)[:3]
    reason = {
        Fit.DIRECT: f"Same kind of work as {_name_stint(latest)}",
        Fit.STRONG: f"Close to the work as {_name_stint(latest)}",
        Fit.TRANSFERABLE: f"Some overlap with the work as {_name_stint(latest)}",
    }[fit]
    usual = list_role_skills(wanted[0]) if wanted else ()
    findings = [find_skill(index, term) for term in requirement.terms if term not in usual]
    if findings and all(finding.fit in (Fit.MISSING, Fit.TRANSFERABLE) for finding in findings):
        fit, reason = (
            step_down(fit),
            f"{reason}, but no evidence of {join_names([finding.name for finding in findings])}",
        )
    expected = get_years_expected(requirement.text)
    years = count_months([stint for stint in near if stint.is_work], today=today) // 12
    if expected and years < expected * _NEARLY and fit is not Fit.TRANSFERABLE:
        fit, reason = step_down(fit), f"{reason}; a title of this rank usually asks for more than {years} years"
    if fit is Fit.MISSING:
        return Verdict(Fit.MISSING, reason=f"{reason}.", absent=(name,))
    shown = (name,) if fit in (Fit.DIRECT, Fit.STRONG) else ()
    return Verdict(fit, ids, f"{reason}.", shown, () if shown else (name,))


def _compare_stint(title: str, wanted: tuple[str, ...], stint: Stint) -> Fit:
    if wanted and stint.roles:
        return compare_roles(wanted, stint.roles)
    likeness = compare_titles(title, stint.position)
    if likeness >= _SIMILAR_TITLE:
        return Fit.STRONG
    return Fit.TRANSFERABLE if likeness >= _RELATED_TITLE else Fit.MISSING


def _name_stint(stint: Stint) -> str:
    return f"{stint.position} at {stint.organization}" if stint.organization else stint.position


def match_years(index: ProfileIndex, requirement: Requirement, *, title: str, today: date) -> Verdict:
    needed = facts.find_years(requirement.text) or 1
    hard = tuple(term for term in requirement.terms if not is_soft_skill(term))
    if not list_work(index):
        return Verdict(
            Fit.MISSING,
            reason=f"Asks for {needed} years; the profile lists no work.",
            absent=(f"{needed} years of experience",),
        )
    if hard:
        return _match_skill_years(index, requirement, hard, needed, today=today)
    wanted = find_roles(title)
    work = list_work(index)
    near = [stint for stint in work if _compare_stint(title, wanted, stint) in (Fit.DIRECT, Fit.STRONG)]
    wider = [stint for stint in work if _compare_stint(title, wanted, stint) is not Fit.MISSING]
    verdict = _read_years(near, needed, "such work", today=today)
    if verdict.fit in (Fit.MISSING, Fit.TRANSFERABLE) and wider:
        broad = _read_years(wider, needed, "related work", today=today)
        return Verdict(take_lower(broad.fit, Fit.TRANSFERABLE), broad.evidence_ids, broad.reason, (), broad.absent)
    return verdict


def _match_skill_years(
    index: ProfileIndex, requirement: Requirement, hard: tuple[str, ...], needed: int, *, today: date
) -> Verdict:
    findings = find_asked_skills(index, requirement)
    shown = [finding for finding in findings if finding.fit in (Fit.DIRECT, Fit.STRONG)]
    absent = tuple(finding.name for finding in findings if finding not in shown)
    if not shown:
        near = [finding for finding in findings if finding.fit is Fit.TRANSFERABLE]
        if not near:
            return Verdict(
                Fit.MISSING, reason=f"Asks for {needed} years; no evidence of {join_names(hard)}.", absent=absent
            )
        ids = tuple(proof.evidence_id for proof in near[0].proofs[:3])
        reason = f"Asks for {needed} years; no evidence of {near[0].name}, {near[0].instead} is close."
        return Verdict(Fit.TRANSFERABLE, ids, reason, (), absent)
    names = tuple(finding.name for finding in shown)
    used = [stint for stint in list_work(index) if any(name in stint.skills for name in names)]
    if not used:
        ids = tuple(proof.evidence_id for proof in shown[0].proofs[:3])
        reason = f"Asks for {needed} years; {join_names(names)} shown, but in no dated work."
        return Verdict(Fit.TRANSFERABLE, ids, reason, names, absent)
    verdict = _read_years(used, needed, join_names(names), today=today)
    if len(shown) * 2 < len(findings):
        verdict = Verdict(
            take_lower(verdict.fit, Fit.TRANSFERABLE), verdict.evidence_ids, verdict.reason, verdict.shown
        )
    elif absent:
        verdict = Verdict(take_lower(verdict.fit, Fit.STRONG), verdict.evidence_ids, verdict.reason, verdict.shown)
    reason = f"{verdict.reason[:-1]}; no evidence of {join_names(absent)}." if absent else verdict.reason
    return Verdict(verdict.fit, verdict.evidence_ids, reason, names, absent or verdict.absent)


def _read_years(stints: list[Stint], needed: int, subject: str, *, today: date) -> Verdict:
    ordered = sorted(stints, key=lambda stint: -stint.end)
    ids = tuple(stint.evidence_id for stint in ordered)[:MOST_CITED]
    if stints and all(stint.start is None for stint in stints):
        return Verdict(Fit.TRANSFERABLE, ids, f"Asks for {needed} years; the work shows {subject}, but no dates.")
    had = count_months(stints, today=today) / 12
    shown_years = f"{had:.0f}" if had >= 2 else f"{had:.1f}".removesuffix(".0")
    reason = f"{shown_years} years of {subject}; {needed} asked."
    absent = (f"{needed} years of experience",)
    if had >= needed - 0.09:
        return Verdict(Fit.DIRECT, ids, reason, (f"{shown_years} years of {subject}",))
    if had >= needed * _NEARLY:
        return Verdict(Fit.STRONG, ids, reason)
    if had >= needed * _PARTLY:
        return Verdict(Fit.TRANSFERABLE, ids, reason, absent=absent)
    return Verdict(
        Fit.MISSING, reason=reason if stints else f"Asks for {needed} years; none shown in such work.", absent=absent
    )


def match_education(index: ProfileIndex, requirement: Requirement, *, title: str, today: date) -> Verdict:
    asked = facts.find_degree(requirement.text)
    level = asked.level if asked else facts.BACHELOR
    name = _DEGREE_NAMES[level]
    best, best_fit = None, Fit.MISSING
    for school in index.schools:
        fit = _compare_school(asked, school) if asked else Fit.STRONG
        if best is None or take_lower(fit, best_fit) is not fit:
            best, best_fit = school, fit
    if best is not None and best_fit is not Fit.MISSING:
        return Verdict(
            best_fit, (best.evidence_id,), f"{best.text}.", (name,) if best_fit is not Fit.TRANSFERABLE else ()
        )
    if asked is not None and asked.takes_equivalent:
        wanted = find_roles(title)
        near = [stint for stint in list_work(index) if _compare_stint(title, wanted, stint) in (Fit.DIRECT, Fit.STRONG)]
        years = count_months(near, today=today) // 12
        if near and years >= 4:
            ids = tuple(stint.evidence_id for stint in near)[:3]
            return Verdict(
                Fit.STRONG, ids, f"No such degree; {years} years of such work, and experience is accepted instead."
            )
    return Verdict(Fit.MISSING, reason=f"Asks for {name}; the profile shows none that answers it.", absent=(name,))


def _compare_school(asked: facts.DegreeAsked, school: School) -> Fit:
    fit = (
        Fit.DIRECT
        if school.level >= asked.level
        else Fit.TRANSFERABLE
        if school.level == asked.level - 1
        else Fit.MISSING
    )
    if not asked.fields or asked.fields & school.fields:
        return fit
    if facts.are_near_fields(asked.fields, school.fields):
        return fit if asked.takes_related else step_down(fit)
    return step_down(fit) if asked.takes_related and not school.fields else step_down(fit, steps=3)


def match_languages(index: ProfileIndex, requirement: Requirement) -> Verdict:
    names = facts.find_languages(requirement.text, needs_cue=False) or requirement.terms
    results = [_match_language(index, name, requirement.text) for name in names]
    is_choice = re.search(r"\b(?:or|oder|ou|nebo)\b", requirement.text, re.IGNORECASE) is not None
    order = (Fit.DIRECT, Fit.STRONG, Fit.TRANSFERABLE, Fit.NOT_ASSESSED, Fit.MISSING)
    ranked = sorted(results, key=lambda verdict: order.index(verdict.fit))
    chosen = ranked[0] if is_choice else ranked[-1]
    ids = tuple(dict.fromkeys(key for verdict in results for key in verdict.evidence_ids))
    return Verdict(chosen.fit, ids if chosen.evidence_ids else (), chosen.reason, chosen.shown, chosen.absent)


def _match_language(index: ProfileIndex, name: str, text: str) -> Verdict:
    spoken = index.languages.get(name)
    if spoken is not None:
        if _BASIC_LANGUAGE.search(spoken.text) and _HIGH_LANGUAGE.search(text):
            return Verdict(Fit.TRANSFERABLE, (spoken.id,), f"{spoken.text}; more is asked.", absent=(name,))
        return Verdict(Fit.DIRECT, (spoken.id,), f"{spoken.text}.", (name,))
    if name == "English" and index.english_evidence_id:
        return Verdict(Fit.STRONG, (index.english_evidence_id,), "The profile itself is written in English.", (name,))
    if not index.languages:
        return Verdict(Fit.NOT_ASSESSED, reason=f"The profile lists no languages, so {name} is unknown.")
    return Verdict(Fit.MISSING, reason=f"{name} is not among the languages listed.", absent=(name,))


def match_authorization(index: ProfileIndex, requirement: Requirement) -> Verdict:
    text = requirement.text
    if facts.CLEARANCE.search(text):
        held = [item.id for item in index.evidence if re.search(r"\bclearance\b|\bTS/SCI\b", item.text, re.IGNORECASE)]
        if held:
            return Verdict(Fit.DIRECT, tuple(held[:2]), "The profile names a clearance.")
        if _OBTAINABLE.search(text) or requirement.tier is Tier.NICE:
            return Verdict(Fit.NOT_ASSESSED, reason="Whether a clearance can be had is not in the profile.")
        return Verdict(
            Fit.BLOCKED,
            reason="A security clearance is required and the profile names none.",
            absent=("a security clearance",),
        )
    licence = facts.LICENCE.search(text)
    if licence is not None:
        return _match_licence(index, requirement, licence.group())
    return Verdict(Fit.NOT_ASSESSED, reason="The right to work there is not in the profile; please check.")


def _match_licence(index: ProfileIndex, requirement: Requirement, name: str) -> Verdict:
    words = {word.lower() for word in re.findall(r"[^\W\d_]{2,}", name)} - {
        "valid",
        "active",
        "current",
        "license",
        "licence",
        "state",
        "or",
        "and",
        "the",
    }
    words -= {"certification", "certificate", "licensure", "licensed"}
    for item in index.evidence:
        if item.kind in ("credential", "skill", "summary", "bullet", "experience"):
            own = {word.lower() for word in re.findall(r"[^\W\d_]{2,}", item.text)}
            if words and words <= own:
                return Verdict(Fit.DIRECT, (item.id,), f"{item.text[:120]}.")
    if (
        requirement.tier is Tier.MUST
        and _PROFESSIONAL.search(requirement.text)
        and not _OBTAINABLE.search(requirement.text)
    ):
        return Verdict(
            Fit.BLOCKED, reason=f"{name[:1].upper()}{name[1:]} is required and the profile shows none.", absent=(name,)
        )
    return Verdict(Fit.NOT_ASSESSED, reason=f"{name[:1].upper()}{name[1:]} is not in the profile; please check.")
