"""Requirements against a profile: verdicts, their evidence and their reasons."""

from dataclasses import replace
from datetime import date

import pytest

from discovery.contracts import Credential, Experience, ProfileDocument
from scoring.builtin import assess_fit, extract_requirements
from scoring.contracts import Fit, FitReport, RequirementFit
from scoring.scoring_rule import compute_score
from tests.scoring.cast import BACKEND, NURSE, TODAY, make_backend_engineer, make_nurse

MARA = make_backend_engineer()


def assess(*lines: str, profile: ProfileDocument = MARA, title: str = "Backend Engineer") -> FitReport:
    description = "Requirements\n" + "".join(f"- {line}\n" for line in lines)
    return assess_fit(extract_requirements(title=title, description=description), profile=profile, today=TODAY)


def find(
    line: str, *, profile: ProfileDocument = MARA, title: str = "Backend Engineer", kind: str = ""
) -> RequirementFit:
    items = assess("Python", line, profile=profile, title=title).items
    return next(item for item in items if item.requirement.text == line and kind in ("", item.requirement.kind))


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("Experience with Django", Fit.DIRECT),
        ("Experience with Postgres", Fit.DIRECT),
        ("Experience with SQL", Fit.STRONG),  # PostgreSQL implies it
        ("Experience with Kubernetes", Fit.TRANSFERABLE),  # Docker is close
        ("Experience with Kafka", Fit.TRANSFERABLE),
        ("Experience with React", Fit.MISSING),
        ("Java, Python or Go", Fit.DIRECT),
        ("Python and Java", Fit.TRANSFERABLE),
        ("Python, Django and Java", Fit.STRONG),
        ("Cloud platforms such as Azure, AWS", Fit.STRONG),
        ("Experience with AWS/GCP/Azure", Fit.DIRECT),
        ("Python, React, Vue, Java, PHP", Fit.MISSING),
    ],
)
def test_it_matches_skills(line: str, fit: Fit) -> None:
    assert find(line).fit is fit


def test_it_says_where_a_skill_is_shown() -> None:
    item = find("Experience with Django")

    assert item.reason == "Django: shown in 2 bullets at Northwind and Lakeside Travel, to the present."
    assert item.evidence_ids[:2] == ("nw-1", "ls-1")


def test_it_says_how_long_ago() -> None:
    assert find("Redis").reason == "Redis: shown in 1 bullet at Lakeside Travel, most recently 2021."


def test_it_names_the_skill_that_is_close() -> None:
    item = find("Experience with Kafka")

    assert item.reason == "No evidence of Kafka; RabbitMQ is close."
    assert item.evidence_ids == ("nw-5",)


def test_it_says_what_is_missing_without_citing_anything() -> None:
    item = find("Experience with React")

    assert (item.reason, item.evidence_ids) == ("No evidence of React.", ())


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("8+ years of backend development", Fit.DIRECT),
        ("10+ years of Python", Fit.STRONG),
        ("16 years of Python", Fit.TRANSFERABLE),
        ("25+ years of Python", Fit.MISSING),
        ("5+ years of relevant experience", Fit.DIRECT),
        ("5+ years of experience in Java", Fit.MISSING),
        ("3+ years with MySQL", Fit.TRANSFERABLE),
    ],
)
def test_it_counts_years_from_the_dates_of_the_work(line: str, fit: Fit) -> None:
    assert find(line).fit is fit


def make_profile(*stints: tuple[str, str, str]) -> ProfileDocument:
    return ProfileDocument(
        name="Ola",
        experience=tuple(
            Experience(f"x{index}", kind, f"Firm {index}", "Backend Engineer", start=start, end=end)
            for index, (kind, start, end) in enumerate(stints)
        ),
    )


@pytest.mark.parametrize(
    ("stints", "years"),
    [
        ([("work", "2022-09", "2025-08")], "3 years"),
        ([("work", "2022-09", "2025-08"), ("work", "2023-01", "2024-12")], "3 years"),  # two jobs at once
        ([("work", "2020-09", "2022-08"), ("work", "2024-09", "2025-08")], "3 years"),  # a gap between
        ([("work", "2023-09", "")], "3 years"),  # to the present
        ([("work", "2020", "2023")], "3 years"),
        ([("work", "2023-09", "2031-12")], "3 years"),  # the future does not count
        ([("work", "2022-09", "2025-08"), ("project", "2010-01", "2020-12")], "3 years"),
    ],
)
def test_it_counts_overlaps_once_and_only_work(stints: list[tuple[str, str, str]], years: str) -> None:
    item = find("3+ years of relevant experience", profile=make_profile(*stints))

    assert item.fit is Fit.DIRECT
    assert item.reason.startswith(years)


def test_it_says_when_the_work_has_no_dates() -> None:
    item = find("3+ years of relevant experience", profile=make_profile(("work", "", "")))

    assert item.fit is Fit.TRANSFERABLE
    assert "no dates" in item.reason


def test_it_grows_with_the_day_it_is_asked() -> None:
    asked = extract_requirements(title="Backend Engineer", description="Requirements\n- 10+ years of Python\n")

    fits = [
        assess_fit(asked, profile=MARA, today=day).items[1].fit for day in (date(2022, 1, 1), TODAY, date(2029, 1, 1))
    ]

    assert fits == [Fit.MISSING, Fit.STRONG, Fit.DIRECT]


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("Bachelor's degree in Computer Science", Fit.DIRECT),
        ("Bachelor's degree in Mathematics or a related field", Fit.DIRECT),
        ("Master's degree in Computer Science", Fit.TRANSFERABLE),
        ("PhD in Computer Science", Fit.MISSING),
        ("Bachelor of Science in Nursing", Fit.MISSING),
        ("University degree", Fit.DIRECT),
    ],
)
def test_it_compares_degrees(line: str, fit: Fit) -> None:
    assert find(line, kind="education").fit is fit


def test_it_takes_experience_where_the_posting_does() -> None:
    unschooled = replace(MARA, education=())

    assert find("Bachelor's degree in Computer Science or equivalent experience", profile=unschooled).fit is Fit.STRONG
    assert find("Bachelor's degree in Computer Science", profile=unschooled).fit is Fit.MISSING


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("Fluent English", Fit.DIRECT),
        ("Fluent German", Fit.MISSING),
        ("Fluent German or English", Fit.DIRECT),
        ("Fluent German and English", Fit.MISSING),
    ],
)
def test_it_compares_spoken_languages(line: str, fit: Fit) -> None:
    assert find(line).fit is fit


def test_it_knows_that_some_german_is_not_fluent_german() -> None:
    learner = replace(MARA, credentials=(Credential("lang-de", "language", "German", "A2"),))

    assert find("Fluent German", profile=learner).fit is Fit.TRANSFERABLE


def test_it_does_not_judge_languages_a_profile_does_not_list() -> None:
    silent = replace(MARA, credentials=())

    report = assess("Python", "Fluent German", "Fluent English", profile=silent)

    assert [item.fit for item in report.items if item.requirement.kind == "language"] == [Fit.NOT_ASSESSED, Fit.STRONG]
    assert "languages_unknown" in report.warnings


def test_it_blocks_on_a_licence_that_is_required_and_not_shown() -> None:
    report = assess_fit(
        extract_requirements(title=NURSE.title, description=NURSE.description), profile=MARA, today=TODAY
    )

    assert [item.requirement.text for item in report.items if item.fit is Fit.BLOCKED] == ["Active RN license required"]
    assert compute_score(report).blocked
    assert "RN license" in report.summary


def test_it_finds_the_licence_of_a_nurse() -> None:
    report = assess_fit(
        extract_requirements(title=NURSE.title, description=NURSE.description), profile=make_nurse(), today=TODAY
    )

    fits = {item.requirement.text: item for item in report.items}
    assert fits["Active RN license required"].evidence_ids == ("c1",)
    assert fits["Bachelor of Science in Nursing"].fit is Fit.DIRECT
    assert not compute_score(report).blocked


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("An active secret clearance is required", Fit.BLOCKED),
        ("Ability to obtain a security clearance", Fit.NOT_ASSESSED),
        ("A security clearance is a plus", Fit.NOT_ASSESSED),
        ("Valid driver's license", Fit.NOT_ASSESSED),
        ("You must be authorized to work in the US", Fit.NOT_ASSESSED),
        ("We cannot offer visa sponsorship", Fit.NOT_ASSESSED),
    ],
)
def test_it_blocks_only_on_what_is_required_and_cannot_be_assumed(line: str, fit: Fit) -> None:
    assert find(line).fit is fit


def test_it_warns_of_an_unknown_right_to_work() -> None:
    report = assess("Python", "You must be authorized to work in the US")

    assert report.warnings == ("work_authorization_unknown",)


def test_it_passes_the_caller_s_warnings_on_without_counting_them() -> None:
    asked = extract_requirements(title=BACKEND.title, description=BACKEND.description)

    plain = assess_fit(asked, profile=MARA, today=TODAY)
    warned = assess_fit(asked, profile=MARA, today=TODAY, warnings=("pay_below_wish",))

    assert warned.warnings == ("pay_below_wish",)
    assert compute_score(warned) == compute_score(plain)


@pytest.mark.parametrize(
    ("title", "fit"),
    [
        ("Senior Backend Engineer", Fit.DIRECT),
        ("Backend Developers (m/w/d)", Fit.DIRECT),
        ("Python Developer", Fit.STRONG),
        ("Full Stack Developer", Fit.STRONG),
        ("Software Engineer", Fit.STRONG),
        ("Site Reliability Engineer", Fit.TRANSFERABLE),
        ("Data Engineer", Fit.TRANSFERABLE),
        ("Senior Java Backend Engineer", Fit.STRONG),  # no Java
        ("Account Executive", Fit.MISSING),
        ("Sales Engineer", Fit.MISSING),
        ("Chef de cuisine", Fit.MISSING),
    ],
)
def test_it_compares_the_kind_of_work(title: str, fit: Fit) -> None:
    role = assess("Python", title=title).items[0]

    assert role.requirement.kind == "role"
    assert role.fit is fit


def test_it_expects_more_years_behind_a_higher_title() -> None:
    junior = make_profile(("work", "2025-01", ""))

    assert assess("Python", title="Backend Engineer", profile=junior).items[0].fit is Fit.DIRECT
    assert assess("Python", title="Principal Backend Engineer", profile=junior).items[0].fit is Fit.STRONG


def test_it_sees_likeness_where_no_known_skill_is_named() -> None:
    description = "Responsibilities\n- Design and build booking and payment services that serve millions of requests\n- Fold napkins neatly into swans\n"
    found = assess_fit(
        extract_requirements(title="Engineer", description=f"{description}\nRequirements\n- Python\n"),
        profile=MARA,
        today=TODAY,
    )

    fits = {item.requirement.text: item for item in found.items}
    alike = fits["Design and build booking and payment services that serve millions of requests"]
    assert alike.fit in (Fit.STRONG, Fit.TRANSFERABLE, Fit.DIRECT)
    assert alike.evidence_ids
    assert fits["Fold napkins neatly into swans"].fit is Fit.MISSING


def test_it_sums_up_in_plain_sentences() -> None:
    report = assess(
        "Python and Django", "5+ years of backend development", "Experience with React", "Terraform or Ansible"
    )

    assert report.summary.startswith("Fits in ")
    assert "Python" in report.summary
    assert report.summary.endswith("Main gaps: React.")


def test_it_copes_with_an_empty_profile() -> None:
    report = assess(
        "Python", "3+ years of Java", "Fluent English", "Bachelor's degree", profile=ProfileDocument(name="")
    )

    assert not any(item.evidence_ids for item in report.items)
    assert compute_score(report).value == 1


def test_it_leaves_attitudes_out_of_the_gaps() -> None:
    report = assess("Python", "Excellent communication and presentation skills", "You are curious and empathetic")

    assert report.summary == "Fits in Python. No gap among the requirements that could be read."


def test_it_reads_a_registration_as_a_licence() -> None:
    line = "You must be registered with the Nursing and Midwifery Council"

    assert find(line, title="Registered Nurse").fit is Fit.BLOCKED
