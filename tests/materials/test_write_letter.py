"""The built-in letter: short, grammatical, and made of the candidate's own facts."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.contracts import Bullet, Experience, ProfileDocument
from discovery.profile_import import read_profile
from materials.builtin import write_letter
from materials.builtin.wording import clean_company, clean_title, phrase_requirement
from materials.contracts import LetterDocument
from materials.grounding import check_letter
from materials.grounding.frames import join_names, render_role
from materials.grounding.grammar import attach_subject, choose_article, follows_subject
from materials.grounding.sentences import split_sentences
from scoring.contracts import FitReport, Requirement, Scope, Tier
from tests.materials.candidate import (
    COMPANY,
    POSTING,
    SHARED,
    TITLE,
    find_skills,
    load_sample,
    make_report,
    report_for_lumenpay,
)
from tests.materials.candidate import make_requirement as locate_requirement


def write(
    profile: ProfileDocument,
    *,
    report: FitReport | None = None,
    title: str = TITLE,
    company: str = COMPANY,
    description: str = POSTING,
) -> LetterDocument:
    return write_letter(
        profile,
        report=report if report is not None else report_for_lumenpay(profile),
        title=title,
        company=company,
        description=description,
        find_skills=find_skills,
    )


def read_text(document: LetterDocument) -> str:
    return "\n\n".join(" ".join(line.text for line in paragraph) for paragraph in document.paragraphs)


def make_candidate(
    *bullets: str, kind: str = "work", organization: str = "Northwind", position: str = "Engineer"
) -> ProfileDocument:
    own = tuple(Bullet(f"bul-{n}", text) for n, text in enumerate(bullets))
    item = Experience("exp-1", kind, organization, position, start="2020-01", bullets=own)
    return ProfileDocument(name="Greta Lindqvist", email="greta@example.com", experience=(item,))


def test_the_letter_for_lumenpay_could_be_sent() -> None:
    profile = load_sample()

    document = write(profile)

    text = read_text(document)
    assert document.greeting == "Dear Hiring Team at Lumenpay,"
    assert text.startswith(
        "I am writing to apply for the Senior Backend Engineer role at Lumenpay. I am a senior backend engineer"
    )
    assert "Your posting asks for strong knowledge of Django and PostgreSQL." in text
    assert "As a Backend Engineer at Tallyworks, I designed the double-entry ledger" in text
    assert "As a Senior Backend Engineer at Halden Freight, I" in text
    assert (document.closing, document.signature) == ("Kind regards,", "Anaïs Krüger")
    assert 150 <= len(text.split()) <= 260
    check_letter(document, profile=profile, posting=POSTING)


def test_every_sentence_about_the_candidate_cites_what_it_states() -> None:
    profile = load_sample()
    evidence = {item.id: split_sentences(item.text)[0] for item in profile.iter_evidence()}

    document = write(profile)

    for line in (line for paragraph in document.paragraphs for line in paragraph):
        for evidence_id in line.evidence_ids:
            assert evidence[evidence_id][1:].rstrip(".") in line.text
    cited = [line for paragraph in document.paragraphs for line in paragraph if line.evidence_ids]
    assert len(cited) >= 5
    assert len({line.text for line in cited}) == len(cited)


def test_two_paragraphs_speak_of_different_employers() -> None:
    document = write(load_sample())

    first, second = (" ".join(line.text for line in paragraph) for paragraph in document.paragraphs[1:3])
    assert "Tallyworks" in first and "Tallyworks" not in second
    assert "Halden Freight" in second


@pytest.mark.parametrize("company", ["", "  ", "Unknown", "{{COMPANY}}", "[Company Name]", "N/A", "<company>"])
def test_an_unknown_company_leaves_no_gap(company: str) -> None:
    profile = load_sample()

    document = write(profile, company=company)

    assert document.greeting == "Dear Hiring Team,"
    assert document.company == ""
    assert read_text(document).startswith("I am writing to apply for the Senior Backend Engineer role. ")
    check_letter(document, profile=profile, posting=POSTING)


@pytest.mark.parametrize("title", ["", "{{TITLE}}", "[Job Title]", "Engineer. I hold a Nobel prize"])
def test_an_unknown_title_leaves_no_gap(title: str) -> None:
    document = write(load_sample(), title=title)

    assert read_text(document).startswith("I am writing to apply for the role you advertise at Lumenpay. ")


def test_tokens_in_names_stay_literal() -> None:
    profile = make_candidate("Replaced $& with {name} in templates", organization="Braces {0} & $1")

    document = write(profile, company="Fish $& {Chips}", title="C++ {Lead} $1")

    assert "the C++ {Lead} $1 role at Fish $& {Chips}." in read_text(document)
    assert "As an Engineer at Braces {0} & $1, I replaced $& with {name} in templates." in read_text(document)
    check_letter(document, profile=profile, posting=POSTING)


@pytest.mark.parametrize(
    ("bullet", "sentence"),
    [
        ("Cut p99 latency 40% by reworking the fetch path", "As an Engineer at Northwind, I cut p99 latency 40% by reworking the fetch path."),
        ("Led a team of six.", "As an Engineer at Northwind, I led a team of six."),
        ("Successfully won Techcrunch Disrupt", "As an Engineer at Northwind, I successfully won Techcrunch Disrupt."),
        ("I led the migration to Kafka", "As an Engineer at Northwind, I led the migration to Kafka."),
        ("Designed and built the billing API", "As an Engineer at Northwind, I designed and built the billing API."),
        ("Worked with three vendors on audits", "As an Engineer at Northwind, I worked with three vendors on audits."),
        ("Re-architected the search cluster", "As an Engineer at Northwind, I re-architected the search cluster."),
        ("Build an algorithm for artists", "From my work as an Engineer at Northwind: “Build an algorithm for artists.”"),
        ("Awarded 'Teacher of the Month'", "From my work as an Engineer at Northwind: “Awarded 'Teacher of the Month'.”"),
        ("Promoted twice in three years", "From my work as an Engineer at Northwind: “Promoted twice in three years.”"),
        ("Used in a graduate course at two universities", "From my work as an Engineer at Northwind: “Used in a graduate course at two universities.”"),
        ("Built by an all women team", "From my work as an Engineer at Northwind: “Built by an all women team.”"),
        ("AWS cost reduction of 30%", "From my work as an Engineer at Northwind: “AWS cost reduction of 30%.”"),
        ("Distributed systems work for payments", "From my work as an Engineer at Northwind: “Distributed systems work for payments.”"),
        ("Led it. Built the rest.", "From my work as an Engineer at Northwind: “Led it. Built the rest.”"),
        ("Leitete ein Team von fünf Personen", "From my work as an Engineer at Northwind: “Leitete ein Team von fünf Personen.”"),
        ("決済システムを設計した", "From my work as an Engineer at Northwind: “決済システムを設計した”"),
    ],
)  # fmt: skip
def test_a_bullet_becomes_a_sentence_that_claims_the_same(bullet: str, sentence: str) -> None:
    profile = make_candidate(bullet)

    document = write(profile)

    assert sentence in read_text(document)
    check_letter(document, profile=profile, posting=POSTING)


@pytest.mark.parametrize(
    ("kind", "organization", "position", "start"),
    [
        ("work", "Northwind", "", "At Northwind, I cut"),
        ("work", "", "SRE", "As an SRE, I cut"),
        ("work", "Northwind", "CTO", "As CTO at Northwind, I cut"),
        ("work", "Northwind", "Head of Data", "As Head of Data at Northwind, I cut"),
        ("work", "Northwind", "UX Engineer", "As a UX Engineer at Northwind, I cut"),
        ("volunteer", "CoderDojo", "Teacher", "As a volunteer with CoderDojo, I cut"),
        ("project", "", "raft-lab", "In my project raft-lab, I cut"),
    ],
)
def test_the_frame_suits_the_kind_of_experience(kind: str, organization: str, position: str, start: str) -> None:
    profile = make_candidate("Cut the build time in half", kind=kind, organization=organization, position=position)

    assert f"{start} the build time in half." in read_text(write(profile))


@pytest.mark.parametrize(
    ("bullet", "follows"),
    [
        ("Speed improvements of 40%", False),
        ("Weekly released builds to customers", False),
        ("Shipped it", False),
        ("Grew his team to twelve people", False),
        ("Hired and trained five engineers", True),
        ("Hired as the first engineer", False),
        ("Presented at PyCon 2019 on queues", True),
        ("Quietly retired the old scheduler", True),
        ("MIGRATED the whole cluster", False),
        ("", False),
    ],
)
def test_it_knows_what_may_follow_i(bullet: str, follows: bool) -> None:
    assert follows_subject(bullet) is follows


def test_small_grammar() -> None:
    assert attach_subject("I led it") == "led it"
    assert [choose_article(noun) for noun in ("engineer", "ML engineer", "Unix administrator", "backend engineer")] == [
        "an ",
        "an ",
        "a ",
        "a ",
    ]
    assert [join_names(names) for names in ([], ["A"], ["A", "B"], ["A", "B", "C"])] == [
        "",
        "A",
        "A and B",
        "A, B and C",
    ]


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("Backend engineer with nine years in Python.", "I am a backend engineer with nine years in Python."),
        ("SRE engineer who likes quiet pagers", "I am an SRE engineer who likes quiet pagers."),
        ("Richard hails from Tulsa.", None),
        ("I am a software engineer with taste.", None),
        ("Engineering leadership for platforms.", None),
    ],
)
def test_a_summary_is_spoken_only_where_it_names_a_role(summary: str, shown: str | None) -> None:
    assert render_role(summary) == shown


def test_without_a_spoken_summary_it_names_the_present_job() -> None:
    profile = replace(make_candidate("Cut the build time in half"), summary="Greta hails from Malmö.")

    assert "I currently work as an Engineer at Northwind." in read_text(write(profile))


def make_requirement(text: str, *terms: str) -> Requirement:
    return Requirement("r", text, "skill", Scope.RESUME, Tier.MUST, 1.0, 0, 1, terms)


@pytest.mark.parametrize(
    ("posting", "shown", "phrase"),
    [
        ("You know Python, Scala and Kafka", ("Kafka", "Python"), "Python and Kafka"),
        ("You know Python, Scala and Kafka", (), "Python, Scala and Kafka"),
        ("Relational databases. Python", ("relational databases",), "relational databases"),
        ("Experience with PostgreSQL operators", (), "PostgreSQL"),
    ],
)
def test_of_several_skills_it_names_those_that_the_facts_show(
    posting: str, shown: tuple[str, ...], phrase: str
) -> None:
    known = ("Python", "Scala", "Kafka", "relational databases", "PostgreSQL")
    terms = [term for term in known if term.casefold() in posting.casefold()]

    assert phrase_requirement(make_requirement(posting, *terms), description=posting, shown=shown) == phrase


@pytest.mark.parametrize(
    ("text", "terms", "shown"),
    [
        ("Strong knowledge of Django and PostgreSQL.", (), "strong knowledge of Django and PostgreSQL"),
        ("5+ years of Python", ("Python",), "Python"),
        ("You have built APIs with Go, Rust and Kafka", ("Go", "Rust", "kafka"), "Go, Rust and Kafka"),
        ("Design APIs", (), ""),
        ("Experience with queues (Kafka; RabbitMQ)", (), "experience with queues"),
        ("Deep knowledge of SQL: planning, indexing", (), "deep knowledge of SQL"),
        ("Experience nobody asked for", (), ""),
    ],
)
def test_it_repeats_the_posting_only_where_it_is_short_and_clean(text: str, terms: tuple[str, ...], shown: str) -> None:
    posting = (
        "Strong knowledge of Django and PostgreSQL.\n5+ years of Python\nYou have built APIs with Go, Rust and Kafka\n"
        "Design APIs\nExperience with queues (Kafka; RabbitMQ)\nDeep knowledge of SQL: planning, indexing"
    )

    assert phrase_requirement(make_requirement(text, *terms), description=posting) == shown


def tell(bullets: Mapping[str, tuple[str, ...]], *requirements: str) -> list[str]:
    """The paragraphs about a candidate with these jobs, newest first, for a posting that asks for these."""
    jobs = tuple(
        Experience(f"e{n}", "work", name, "Engineer", start=f"{2024 - n}-01", end=f"{2024 - n}-12",
                   bullets=tuple(Bullet(f"b{n}-{i}", text) for i, text in enumerate(own)))
        for n, (name, own) in enumerate(bullets.items())
    )  # fmt: skip
    profile = ProfileDocument(name="Greta Lindqvist", email="greta@example.com", experience=jobs)
    posting = "\n".join(requirements)
    report = make_report(profile, [locate_requirement(text, posting) for text in requirements])

    document = write(profile, report=report, description=posting)

    check_letter(document, profile=profile, posting=posting)
    return read_text(document).split("\n\n")[1:-1]


def test_i_also_joins_only_what_speaks_to_the_same_requirement() -> None:
    halden = (
        "Tuned PostgreSQL for the rates API",
        "Trained forty editors in workshops",
        "Moved PostgreSQL to new hosts",
    )
    (first,) = tell({"Halden": halden}, "Strong knowledge of PostgreSQL")

    assert first.startswith("Your posting asks for strong knowledge of PostgreSQL. ")
    assert "I also moved PostgreSQL to new hosts." in first or "I also tuned PostgreSQL for the rates API." in first
    assert "editors" not in first


def test_the_two_paragraphs_open_with_different_requirements() -> None:
    jobs = {
        "Halden": ("Tuned PostgreSQL for the rates API", "Moved nine services to Kubernetes"),
        "Tallyworks": ("Designed the ledger in PostgreSQL", "Wrote the retry service in Python"),
    }
    asked = ("Experience with PostgreSQL and SQL", "Good knowledge of SQL", "Experience with Kubernetes")

    first, second = tell(jobs, *asked)

    assert {text.split(". ")[0].split(" for ")[1] for text in (first, second)} == {
        "experience with Kubernetes",
        "experience with PostgreSQL and SQL",
    }
    assert first.startswith("Your posting asks for ") and second.startswith("You also ask for ")


def test_it_opens_with_nothing_where_the_second_employer_has_no_other_answer() -> None:
    jobs = {
        "Halden": ("Tuned PostgreSQL for the rates API",),
        "Tallyworks": ("Designed the ledger in PostgreSQL",),
    }

    first, second = tell(jobs, "Experience with PostgreSQL", "Good knowledge of SQL")

    assert "ask" in first
    assert "ask" not in second


def test_a_title_of_several_parts_gets_a_frame_that_carries_it() -> None:
    document = write(load_sample(), title="Senior Engineer (Python), Platform")

    assert read_text(document).startswith(
        "I am writing to apply for the position of Senior Engineer (Python), Platform at Lumenpay. "
    )


def test_titles_lose_what_no_letter_repeats() -> None:
    assert clean_title("Backend Engineer (m/f/d)") == "Backend Engineer"
    assert clean_title("Entwickler [w/m/x]") == "Entwickler"
    assert clean_title("Senior Product Owner m/w/d") == "Senior Product Owner"
    assert clean_title("Site Engineer:") == "Site Engineer"
    assert clean_title("Software Engineer I (Remote)") == "Software Engineer I (Remote)"
    assert clean_title("C# Developer (Remote)") == "C# Developer (Remote)"
    assert clean_company(" Fish &\nChips ") == "Fish & Chips"
    assert clean_title("🚀👩‍💻 Senior Backend Engineer 🔥") == "Senior Backend Engineer"
    assert clean_title("❤️ Engineer – ⭐") == "Engineer"
    assert clean_company("🦄 Corp™ 🇩🇪") == "Corp™"
    assert clean_company("🦄") == ""


def test_sentences_end_where_people_end_them() -> None:
    text = "Dr. Lena works for Main St. Company. She likes e.g. Go. “Really!” Or not?"

    assert split_sentences(text) == (
        "Dr. Lena works for Main St. Company.",
        "She likes e.g. Go.",
        "“Really!”",
        "Or not?",
    )


def test_a_thin_profile_gives_a_short_letter_without_padding() -> None:
    profile = make_candidate("Cut the build time in half")

    document = write(profile, report=FitReport(()), description="")

    assert len(document.paragraphs) == 3
    assert len(read_text(document).split()) < 90
    check_letter(document, profile=profile)


@pytest.mark.parametrize(
    "file",
    ["jrs-v0-richard-hendriks.json", "jsonresume-new-grad.json", "jsonresume-schema-sample.json", "jsonresume-senior-engineer.json"],
)  # fmt: skip
def test_published_resumes_give_letters_that_pass_the_gate(file: str) -> None:
    if not SHARED.is_dir():
        pytest.skip("the shared resume samples are not here")
    profile = read_profile((SHARED / file).read_bytes())

    document = write(profile)

    assert len(read_text(document).split()) <= 260
    check_letter(document, profile=profile, posting=POSTING)
    assert write(profile) == document


_words = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), max_size=40)
_openings = st.sampled_from(["", "Led ", "Built ", "Successfully cut ", "I wrote ", "Awarded ", "Used in "])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(_openings, _words).map("".join).map(str.strip).filter(bool), max_size=5, unique_by=str.casefold),
    _words, _words, _words, _words, st.sampled_from(["work", "volunteer", "project"]),
)  # fmt: skip
def test_whatever_is_said_the_letter_passes_the_gate(
    bullets: list[str], organization: str, title: str, company: str, summary: str, kind: str
) -> None:
    profile = make_candidate("Cut the build time in half", *bullets, kind=kind, organization=organization)
    profile = replace(profile, summary=" ".join(summary.split()))

    document = write(profile, report=FitReport(()), title=title, company=company, description=f"{title} {summary}")

    check_letter(document, profile=profile, posting=f"{title} {summary}")
