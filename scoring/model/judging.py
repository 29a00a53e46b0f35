"""The lane ``score``: how well a profile answers each requirement. The score itself is computed from it elsewhere."""

import re
from collections import Counter
from collections.abc import Collection
from typing import Final

from discovery.contracts import ProfileDocument
from operations.llm.gateway import Question, ask_model
from operations.llm.ledger import Target
from operations.llm.untrusted import RULE, quote_untrusted
from scoring import builtin
from scoring.contracts import Analysis, Fit, FitReport, Kind, Requirement, RequirementFit, Tier
from scoring.model.answers import FitAnswer, Judgement
from scoring.model.material import describe_evidence, describe_requirements

LONGEST_REASON = 240
MOST_NAMED = 8
SHOWN: Final = frozenset({Fit.DIRECT, Fit.STRONG, Fit.TRANSFERABLE})
NOT_SHOWN_REASON: Final = "What is asked for is named nowhere in the profile; something close may be."
INSTRUCTIONS: Final = f"""\
You compare a candidate's profile with the requirements of a job. Judge each requirement once, by its id.
direct: the profile shows exactly this. strong: it shows this in other words. transferable: it shows something close. \
missing: it does not show it. blocked: a licence, clearance or leave to work that is a must and that the profile \
cannot have. not_assessed: a resume does not say such a thing (place, hours, pay).
direct, strong and transferable cite the ids of the profile lines that show it. Judge by those lines alone and suppose \
nothing.
{RULE}"""

_LINK = re.compile(r"\S*(?:://|www\.)\S*", re.IGNORECASE)


def judge_requirements(analysis: Analysis, *, profile: ProfileDocument, target: Target) -> FitReport:
    """Raises what ``ask_model`` raises; an answer that leaves one out or cites what is not there is never used."""
    evidence_ids = frozenset(evidence.id for evidence in profile.iter_evidence())
    answer = ask_model(
        Question(
            lane="score",
            instructions=INSTRUCTIONS,
            material="\n\n".join(
                (
                    quote_untrusted("requirements", describe_requirements(analysis.requirements)),
                    quote_untrusted("profile", describe_evidence(profile)),
                )
            ),
            answer_type=FitAnswer,
            check=lambda found: complain_of_judgements(found, analysis.requirements, evidence_ids),
        ),
        target=target,
    )
    judged = {judgement.requirement: judgement for judgement in answer.judgements}
    items = tuple(make_item(asked, judged[asked.id], profile) for asked in analysis.requirements)
    return FitReport(
        items,
        warnings=tuple(dict.fromkeys((*analysis.warnings, *builtin.find_open_questions(items)))),
        summary=builtin.summarize_items(items),
        engine=f"{target.provider}:{target.model}",
    )


def complain_of_judgements(
    answer: FitAnswer, requirements: Collection[Requirement], evidence_ids: Collection[str]
) -> str:
    """What is wrong with an answer, in sentences for the model; "" where nothing is."""
    asked = [requirement.id for requirement in requirements]
    times = Counter(judgement.requirement for judgement in answer.judgements)
    bare = [one.requirement for one in answer.judgements if one.fit in SHOWN and not one.evidence_ids]
    cited = [key for one in answer.judgements for key in one.evidence_ids]
    complaints = (
        ("These requirements are not judged", [key for key in asked if not times[key]]),
        ("These are judged more than once", [key for key, count in times.items() if count > 1]),
        ("There are no such requirements", [key for key in times if key not in asked]),
        ("direct, strong and transferable must cite evidence, and these do not", bare),
        ("The profile has no such evidence", [key for key in cited if key not in evidence_ids]),
    )
    return " ".join(f"{words}: {', '.join(dict.fromkeys(keys[:MOST_NAMED]))}." for words, keys in complaints if keys)


def make_item(asked: Requirement, judgement: Judgement, profile: ProfileDocument) -> RequirementFit:
    """The judgement within what can be checked: only a paper blocks, and a skill named nowhere is not shown."""
    fit, reason = judgement.fit, clean_reason(judgement.reason)
    if fit is Fit.BLOCKED and not (asked.kind == Kind.AUTHORIZATION and asked.tier is Tier.MUST):
        fit = Fit.MISSING
    if fit in (Fit.DIRECT, Fit.STRONG) and builtin.is_shown_nowhere(asked.terms, profile):
        fit, reason = Fit.TRANSFERABLE, NOT_SHOWN_REASON
    evidence = tuple(dict.fromkeys(judgement.evidence_ids)) if fit in SHOWN else ()
    return RequirementFit(asked, fit, evidence, reason)


def clean_reason(text: str) -> str:
    """One line without addresses, cut at a word."""
    flat = " ".join(_LINK.sub("…", "".join(sign if sign.isprintable() else " " for sign in text)).split())
    return flat if len(flat) <= LONGEST_REASON else f"{flat[:LONGEST_REASON].rsplit(' ', 1)[0]}…"
