"""The built-in resume: the candidate's own words, chosen for one posting."""

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.contracts import Bullet, Credential, Experience, ProfileDocument, Skill
from discovery.profile_import import read_profile
from materials.builtin import ONE_PAGE, TWO_PAGES, ResumeLimits, tailor_resume, write_letter
from materials.builtin.dates import format_month, format_span
from materials.builtin.layout import estimate_lines
from materials.contracts import ResumeDocument
from materials.grounding import check_letter, check_resume
from scoring.builtin import assess_fit, extract_requirements
from scoring.contracts import FitReport, Tier
from tests.materials.candidate import (
    COMPANY,
    POSTING,
    SHARED,
    TITLE,
    find_skills,
    load_sample,
    make_report,
    make_requirement,
    report_for_lumenpay,
)

FRONTEND = "Frontend Engineer wanted. You know Elasticsearch and Docker well. Museums and publishers are our clients."


def tailor(
    profile: ProfileDocument,
    *,
    report: FitReport | None = None,
    description: str = POSTING,
    limits: ResumeLimits | None = None,
) -> ResumeDocument:
    return tailor_resume(
        profile,
        report=report if report is not None else report_for_lumenpay(profile),
        title=TITLE,
        company=COMPANY,
        description=description,
        limits=limits,
        find_skills=find_skills,
    )


def make_candidate(jobs: int, *, bullets: int = 6) -> ProfileDocument:
    """One job a year up to 2026, each with bullets of its own."""
    return ProfileDocument(
        name="Greta Lindqvist",
        experience=tuple(
            Experience(
                f"exp-{n}",
                "work",
                f"Employer {n}",
                "Engineer",
                start=f"{2025 - n}-01",
                end=f"{2025 - n}-12",
                bullets=tuple(
                    Bullet(f"bul-{n}-{i}", f"Built part {i} of system {n} in Python") for i in range(bullets)
                ),
            )
            for n in range(jobs)
        ),
    )


def test_every_line_is_one_of_the_candidates_own() -> None:
    profile = load_sample()
    own = {bullet.id: (bullet.text, item.id) for item in profile.experience for bullet in item.bullets}
    own |= {item.id: (item.summary, item.id) for item in profile.experience}

    document = tailor(profile)

    shown = [(entry, line) for entry in (*document.experience, *document.projects) for line in entry.lines]
    assert shown
    assert all(own[line.evidence_ids[0]] == (line.text, entry.evidence_id) for entry, line in shown)
    assert document.label == profile.label
    assert document.name == profile.name


def test_every_employer_stays_newest_first_and_older_ones_say_less() -> None:
    document = tailor(load_sample())

    jobs = [(entry.organization, entry.dates) for entry in document.experience]
    lengths = [len(entry.lines) for entry in document.experience]
    assert jobs[:3] == [
        ("Halden Freight", "Apr 2022 – Present"),
        ("Tallyworks", "Jun 2019 – Mar 2022"),
        ("Studio Querfeld", "Sep 2017 – May 2019"),
    ]
    assert lengths[0] >= lengths[2] >= 1
    assert sum(lengths) < 17


def test_volunteering_is_marked_and_follows_the_jobs() -> None:
    document = tailor(load_sample(), limits=TWO_PAGES)

    assert document.experience[-1].organization == "Code Curious Berlin (volunteer)"


def test_the_posting_decides_what_leads() -> None:
    profile = load_sample()
    search = make_report(profile, [make_requirement("Elasticsearch", FRONTEND), make_requirement("Docker", FRONTEND)])

    for_payments = {entry.organization: entry for entry in tailor(profile).experience}
    for_museums = {
        entry.organization: entry for entry in tailor(profile, report=search, description=FRONTEND).experience
    }

    assert "ledger" in for_payments["Tallyworks"].lines[0].text
    assert "Elasticsearch" in for_museums["Studio Querfeld"].lines[0].text
    assert for_payments["Studio Querfeld"].lines[0].text != for_museums["Studio Querfeld"].lines[0].text


def test_a_bullet_that_answers_a_requirement_is_kept_over_an_equal_one_that_does_not() -> None:
    profile = make_candidate(1, bullets=30)
    posting = "Python systems."
    requirement = make_requirement("Python systems", posting)
    report = FitReport(
        tuple(replace(item, evidence_ids=("bul-0-29",)) for item in make_report(profile, [requirement]).items)
    )

    document = tailor(profile, report=report, description=posting)

    assert document.experience[0].lines[0].evidence_ids == ("bul-0-29",)


def test_a_requirement_answered_once_is_not_answered_again_before_the_others() -> None:
    bullets = [f"Wrote a Python service from {'very ' * n}scratch" for n in range(9)] + ["Wrote one Kafka consumer"]
    own = tuple(Bullet(f"b{n}", text) for n, text in enumerate(bullets))
    profile = ProfileDocument(name="G", experience=(Experience("e", "work", "Northwind", "Dev", bullets=own),))
    posting = "Python. Kafka."
    report = make_report(profile, [make_requirement("Python", posting, weight=1.2), make_requirement("Kafka", posting)])

    document = tailor(profile, report=report, description=posting)

    assert "Wrote one Kafka consumer" in [line.text for line in document.experience[0].lines]


def test_skills_that_are_asked_for_lead_their_group_and_empty_groups_go_last() -> None:
    profile = replace(load_sample(), skills=(
        Skill("s1", "Figma", "Design"), Skill("s2", "Go", "Languages"), Skill("s3", "Bash", "Languages"),
        Skill("s4", "Python", "Languages"),
    ))  # fmt: skip

    document = tailor(profile)

    assert [(row.group, [line.text for line in row.skills]) for row in document.skills] == [
        ("Languages", ["Python", "Go", "Bash"]),
        ("Design", ["Figma"]),
    ]


def test_the_summary_keeps_whole_sentences_of_the_candidate() -> None:
    document = tailor(load_sample())

    assert document.summary[0].text.startswith("Senior backend engineer with nine years")
    assert all(line.text.endswith(".") and line.evidence_ids == ("summary",) for line in document.summary)


def test_contacts_are_links_where_they_can_be_followed() -> None:
    document = tailor(load_sample())

    assert [(contact.text, contact.href) for contact in document.contacts[:4]] == [
        ("Berlin, DE", ""),
        ("anais.krueger@example.com", "mailto:anais.krueger@example.com"),
        ("+49 30 5550 0142", "tel:+493055500142"),
        ("anaiskrueger.example.com", "https://anaiskrueger.example.com"),
    ]


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        ("2021-03", "", "Mar 2021 – Present"),
        ("2013-12-01", "2014-12-01", "Dec 2013 – Dec 2014"),
        ("2013", "2014", "2013 – 2014"),
        ("2016-08-24", "2016-08-24", "Aug 2016"),
        ("", "2019-05", "May 2019"),
        ("", "", ""),
    ],
)
def test_dates_read_calmly(start: str, end: str, shown: str) -> None:
    assert format_span(start, end) == shown


def test_a_single_date_reads_calmly() -> None:
    assert [format_month(date) for date in ("2013-12-01", "2023-11", "2020", "")] == [
        "Dec 2013",
        "Nov 2023",
        "2020",
        "",
    ]


@pytest.mark.parametrize(("jobs", "bullets", "pages"), [(2, 3, 1), (4, 4, 2), (9, 8, 2), (14, 12, 2), (21, 6, 2)])
def test_it_stays_within_its_pages(jobs: int, bullets: int, pages: int) -> None:
    profile = make_candidate(jobs, bullets=bullets)

    document = tailor(profile)

    assert len(document.experience) == jobs
    assert estimate_lines(document) <= (ONE_PAGE.lines if pages == 1 else TWO_PAGES.lines)


def test_nine_years_of_work_take_one_page_with_the_ten_best_bullets() -> None:
    document = tailor(load_sample())

    assert estimate_lines(document) <= ONE_PAGE.lines
    assert sum(len(entry.lines) for entry in document.experience) >= 10


def test_certificates_awards_and_languages_stand_under_their_own_headings() -> None:
    kinds = (("award", "Best Paper"), ("language", "Irish"), ("publication", "On Ledgers"), ("certificate", "CKA"))
    credentials = tuple(Credential(f"cred-{kind}", kind, name, "USENIX", "2019-03") for kind, name in kinds)

    document = tailor(replace(make_candidate(1), credentials=credentials))

    assert [(entry.title, entry.dates) for entry in document.credentials] == [("CKA", "Mar 2019")]
    assert [entry.title for entry in document.awards] == ["Best Paper", "On Ledgers"]
    assert [entry.title for entry in document.languages] == ["Irish"]


def test_a_history_that_no_two_pages_hold_loses_its_oldest_jobs_only() -> None:
    document = tailor(make_candidate(90, bullets=2))

    assert estimate_lines(document) <= TWO_PAGES.lines
    assert [entry.organization for entry in document.experience] == [
        f"Employer {n}" for n in range(len(document.experience))
    ]


def test_a_bullet_that_was_never_finished_is_left_out() -> None:
    profile = load_sample()
    first = profile.experience[0]
    unfinished = replace(
        first, bullets=(Bullet("bul-x", "Led [Company Name] to {{METRIC}} in Python"), *first.bullets[:2])
    )

    document = tailor(replace(profile, experience=(unfinished, *profile.experience[1:])))

    assert "Company Name" not in str(document)


def test_literal_tokens_and_odd_hyphens_survive() -> None:
    text = "Replaced $& and {braces} in full‑stack “templates”, {0} times"
    profile = replace(
        make_candidate(1), experience=(Experience("e", "work", "A {x}", "Dev $1", bullets=(Bullet("b", text),)),)
    )

    document = tailor(profile)

    assert document.experience[0].lines[0].text == text
    assert (document.experience[0].title, document.experience[0].organization) == ("Dev $1", "A {x}")


@pytest.mark.parametrize(
    "file",
    ["jrs-v0-richard-hendriks.json", "jsonresume-new-grad.json", "jsonresume-schema-sample.json", "jsonresume-senior-engineer.json"],
)  # fmt: skip
def test_published_resumes_pass_the_gate(file: str) -> None:
    if not SHARED.is_dir():
        pytest.skip("the shared resume samples are not here")
    profile = read_profile((SHARED / file).read_bytes())

    document = tailor(profile)

    check_resume(document, profile=profile)
    assert tailor(profile) == document


_words = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), min_size=1, max_size=30
)
_bullets = st.lists(_words, max_size=4)
_dates = st.sampled_from(["", "2015", "2018-04", "2021-12-24"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_words, _dates, _bullets), min_size=1, max_size=4), _words, st.text(max_size=200))
def test_whatever_the_profile_says_passes_the_gate(
    jobs: list[tuple[str, str, list[str]]], summary: str, posting: str
) -> None:
    profile = ProfileDocument(
        name="Greta",
        summary=" ".join(summary.split()),
        experience=tuple(
            Experience(
                f"exp-{n}",
                "work",
                name,
                "",
                start=start,
                bullets=tuple(Bullet(f"bul-{n}-{i}", text) for i, text in enumerate(bullets)),
            )
            for n, (name, start, bullets) in enumerate(jobs)
        ),
    )

    document = tailor(profile, report=FitReport(()), description=posting)

    check_resume(document, profile=profile)


def test_a_blocked_or_missing_requirement_lifts_nothing() -> None:
    profile = load_sample()
    nothing = tailor(profile, report=FitReport(()), description="")
    requirement = make_requirement("Terraform", POSTING, tier=Tier.NICE)
    missing = FitReport(tuple(replace(item, evidence_ids=()) for item in make_report(profile, [requirement]).items))

    assert tailor(profile, report=missing, description="").experience[0] == nothing.experience[0]
    assert re.search(r"\d", nothing.experience[0].lines[0].text)


def test_it_works_with_the_builtin_engines_own_report_and_vocabulary() -> None:
    profile = load_sample()
    asked = extract_requirements(title=TITLE, description=POSTING)
    report = assess_fit(asked, profile=profile, today=date(2026, 11, 29))

    resume = tailor_resume(profile, report=report, title=TITLE, company=COMPANY, description=POSTING)
    letter = write_letter(profile, report=report, title=TITLE, company=COMPANY, description=POSTING)

    check_resume(resume, profile=profile)
    check_letter(letter, profile=profile, posting=POSTING)
    assert "ledger" in resume.experience[1].lines[0].text
    assert any(line.text.startswith("Your posting asks for ") for line in letter.paragraphs[1])
