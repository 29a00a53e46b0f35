"""The cast of the document tests: Anaïs, who is the sample profile, and what two employers ask for."""

import re
from pathlib import Path

from discovery.contracts import ProfileDocument
from discovery.profile_import import read_profile
from scoring.contracts import Fit, FitReport, Requirement, RequirementFit, Scope, Tier

SAMPLE = Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "resume"

TITLE = "Senior Backend Engineer (m/f/d)"
COMPANY = "Lumenpay"
POSTING = """Lumenpay moves money for 9,000 European merchants. You will join the ledger team in Berlin or remotely.

What you will do
Design and run the services that post, settle and reconcile payments.
Improve the performance of our APIs as volume doubles each year.

What you bring
5+ years of experience building backend services in Python.
Strong knowledge of Django and PostgreSQL.
Experience with AWS and Kubernetes.
Experience with event streaming, ideally Kafka.
Nice to have: Terraform, mentoring of other engineers.
"""

_VOCABULARY = (
    "Python Django PostgreSQL AWS Kubernetes Kafka Terraform Redis Docker Elasticsearch Go Rust SQL React TypeScript "
    "JavaScript Java"
)


def find_skills(text: str) -> tuple[str, ...]:
    """A small vocabulary, so that these tests do not move with the scoring engine's."""
    return tuple(
        name for name in _VOCABULARY.split() if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    )


def load_sample() -> ProfileDocument:
    return read_profile(SAMPLE.read_bytes())


def make_requirement(text: str, posting: str, *, tier: Tier = Tier.MUST, weight: float = 1.0) -> Requirement:
    start = posting.index(text)
    return Requirement(
        id=f"req-{start}",
        text=text,
        kind="skill",
        scope=Scope.RESUME,
        tier=tier,
        weight=weight,
        start=start,
        end=start + len(text),
        terms=find_skills(text),
    )


def make_report(profile: ProfileDocument, requirements: list[Requirement]) -> FitReport:
    """Every requirement is met by whatever evidence shares one of its terms."""
    items: list[RequirementFit] = []
    for requirement in requirements:
        cited = tuple(
            evidence.id
            for evidence in profile.iter_evidence()
            if set(find_skills(evidence.text)).intersection(requirement.terms)
        )
        items.append(RequirementFit(requirement, Fit.DIRECT if cited else Fit.MISSING, cited))
    return FitReport(tuple(items))


def report_for_lumenpay(profile: ProfileDocument) -> FitReport:
    return make_report(
        profile,
        [
            make_requirement("experience building backend services in Python", POSTING, weight=2.0),
            make_requirement("Strong knowledge of Django and PostgreSQL", POSTING, weight=2.0),
            make_requirement("Experience with AWS and Kubernetes", POSTING),
            make_requirement("Experience with event streaming, ideally Kafka", POSTING),
            make_requirement("Terraform", POSTING, tier=Tier.NICE),
        ],
    )
