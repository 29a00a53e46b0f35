"""The gate: one changed number, name or sentence and the document is refused, whoever wrote it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.contracts import Bullet, Experience, ProfileDocument
from materials.builtin import TWO_PAGES, tailor_resume, write_letter
from materials.contracts import ContactLine, LetterDocument, Line, ResumeDocument, ResumeEntry, SkillLine
from materials.grounding import NotGrounded, check_letter, check_resume
from materials.grounding.facts import check_dates
from materials.grounding.placeholders import find_leftovers, find_suspects
from tests.materials.candidate import COMPANY, POSTING, TITLE, find_skills, load_sample, report_for_lumenpay

ANAIS = load_sample()
REPORT = report_for_lumenpay(ANAIS)
RESUME = tailor_resume(
    ANAIS, report=REPORT, title=TITLE, company=COMPANY, description=POSTING, limits=TWO_PAGES, find_skills=find_skills
)  # fmt: skip
LETTER = write_letter(ANAIS, report=REPORT, title=TITLE, company=COMPANY, description=POSTING, find_skills=find_skills)


def refuse_resume(document: ResumeDocument, profile: ProfileDocument = ANAIS) -> dict[str, str]:
    with pytest.raises(NotGrounded) as refused:
        check_resume(document, profile=profile)
    return {problem.where: problem.reason for problem in refused.value.problems}


def refuse_letter(document: LetterDocument, profile: ProfileDocument = ANAIS, posting: str = POSTING) -> dict[str, str]:
    with pytest.raises(NotGrounded) as refused:
        check_letter(document, profile=profile, posting=posting)
    return {problem.where: problem.reason for problem in refused.value.problems}


def edit_line(text: str, *ids: str) -> ResumeDocument:
    """The resume with the second line of its first job changed."""
    return edit_entry(lambda entry: replace(entry, lines=(entry.lines[0], Line(text, ids), *entry.lines[2:])))


def edit_entry(change: Callable[[ResumeEntry], ResumeEntry]) -> ResumeDocument:
    return replace(RESUME, experience=(change(RESUME.experience[0]), *RESUME.experience[1:]))


def edit_sentence(text: str, ids: tuple[str, ...], *, paragraph: int = 1, index: int = 1) -> LetterDocument:
    lines = list(LETTER.paragraphs[paragraph])
    lines[index] = Line(text, ids)
    return replace(
        LETTER, paragraphs=tuple(tuple(lines) if n == paragraph else p for n, p in enumerate(LETTER.paragraphs))
    )


def add_sentence(text: str, *ids: str) -> LetterDocument:
    return replace(LETTER, paragraphs=(*LETTER.paragraphs[:-1], (*LETTER.paragraphs[-1], Line(text, ids))))


def test_what_the_builtin_engine_writes_is_grounded() -> None:
    check_resume(RESUME, profile=ANAIS)
    check_letter(LETTER, profile=ANAIS, posting=POSTING)
    check_letter(LETTER, profile=ANAIS)


# --- resumes -----------------------------------------------------------------------------------


def test_a_retyped_line_is_still_the_candidates() -> None:
    line = RESUME.experience[0].lines[0]

    check_resume(
        edit_entry(lambda e: replace(e, lines=(Line(f" {line.text.replace('-', '‑')}. ", line.evidence_ids),))),
        profile=ANAIS,
    )


def test_a_changed_number_is_named() -> None:
    line = RESUME.experience[0].lines[1]

    problems = refuse_resume(edit_line(line.text.replace("240 ms", "24 ms"), *line.evidence_ids))

    assert problems == {"experience[0].lines[1]": "The evidence it cites does not hold the number “24”."}


def test_an_added_claim_is_named() -> None:
    line = RESUME.experience[0].lines[1]

    problems = refuse_resume(edit_line(f"{line.text} single-handedly", *line.evidence_ids))

    assert problems == {"experience[0].lines[1]": "The evidence it cites does not hold the words “single-handedly”."}


def test_a_line_cut_short_is_refused() -> None:
    line = RESUME.experience[0].lines[1]

    problems = refuse_resume(edit_line(line.text[:29], *line.evidence_ids))

    assert "words are left out" in problems["experience[0].lines[1]"]


def test_evidence_must_be_cited_exist_and_belong() -> None:
    line = RESUME.experience[0].lines[1]
    foreign = RESUME.experience[1].lines[0]

    assert refuse_resume(edit_line(line.text)) == {"experience[0].lines[1]": "It cites no evidence."}
    assert refuse_resume(edit_line(line.text, "bul-0000000000")) == {
        "experience[0].lines[1]": "The profile has no evidence “bul-0000000000”."
    }
    assert refuse_resume(edit_line(foreign.text, *foreign.evidence_ids)) == {
        "experience[0].lines[1]": "It cites evidence of another experience."
    }
    assert "experience[0].lines[1]" in refuse_resume(edit_line(line.text, *line.evidence_ids, *foreign.evidence_ids))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda e: replace(e, organization="Lumenpay"), "experience[0].organization"),
        (lambda e: replace(e, title="Principal Engineer"), "experience[0].title"),
        (lambda e: replace(e, location="London"), "experience[0].location"),
        (lambda e: replace(e, dates="Apr 2020 – Present"), "experience[0].dates"),
        (lambda e: replace(e, dates="Apr 2022 – Jun 2024"), "experience[0].dates"),
        (lambda e: replace(e, evidence_id="exp-0000000000"), "experience[0]"),
        (lambda e: replace(e, evidence_id=RESUME.experience[1].evidence_id), "experience[0].organization"),
    ],
)
def test_an_entry_is_its_experience(change: Callable[[ResumeEntry], ResumeEntry], where: str) -> None:
    assert where in refuse_resume(edit_entry(change))


def test_volunteering_may_not_pass_for_a_job() -> None:
    last = RESUME.experience[-1]
    document = replace(RESUME, experience=(*RESUME.experience[:-1], replace(last, organization="Code Curious Berlin")))

    assert list(refuse_resume(document)) == [f"experience[{len(RESUME.experience) - 1}].organization"]


def test_a_certificate_is_no_language_and_a_language_keeps_its_own_level() -> None:
    certificate = refuse_resume(replace(RESUME, credentials=(), languages=RESUME.credentials))
    better = replace(RESUME.languages[1], organization="Native speaker")

    assert certificate == {"languages[0]": "It stands in the wrong section."}
    assert list(refuse_resume(replace(RESUME, languages=(better,)))) == ["languages[0].organization"]


def test_a_project_may_not_stand_among_the_jobs() -> None:
    document = replace(RESUME, experience=(*RESUME.experience, RESUME.projects[0]), projects=())

    assert refuse_resume(document) == {f"experience[{len(RESUME.experience)}]": "It stands in the wrong section."}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (replace(RESUME, name="Anais Kruger"), "name"),
        (replace(RESUME, label="Principal Backend Engineer"), "label"),
        (replace(RESUME, contacts=(*RESUME.contacts, ContactLine("boss@example.com"))), f"contacts[{len(RESUME.contacts)}]"),
        (replace(RESUME, contacts=(replace(RESUME.contacts[1], href="mailto:x@example.com"),)), "contacts[0]"),
        (replace(RESUME, summary=(Line("Visionary leader.", ("summary",)),)), "summary[0]"),
        (replace(RESUME, summary=(replace(RESUME.summary[0], evidence_ids=()),)), "summary[0]"),
        (replace(RESUME, summary=(Line("Python", (RESUME.skills[0].skills[0].evidence_ids[0],)),)), "summary[0]"),
        (replace(RESUME, skills=(SkillLine("Languages", (Line("Haskell", RESUME.skills[0].skills[0].evidence_ids),)),)), "skills[0].skills[0]"),
        (replace(RESUME, skills=(SkillLine("Machine Learning", RESUME.skills[0].skills),)), "skills[0]"),
        (replace(RESUME, education=(replace(RESUME.education[0], title="Master of Science, Computer Science"),)), "education[0].title"),
        (replace(RESUME, education=(replace(RESUME.education[0], organization="ETH Zürich"),)), "education[0].organization"),
        (replace(RESUME, education=(replace(RESUME.education[0], lines=(Line("1.0", (RESUME.education[0].evidence_id,)),)),)), "education[0].lines[0]"),
        (replace(RESUME, credentials=(replace(RESUME.credentials[0], dates="Nov 2024"),)), "credentials[0].dates"),
        (replace(RESUME, credentials=(replace(RESUME.credentials[0], title="AWS Certified Solutions Architect – Professional"),)), "credentials[0].title"),
        (replace(RESUME, credentials=(replace(RESUME.credentials[0], organization="Fluent"),)), "credentials[0].organization"),
        (replace(RESUME, education=(*RESUME.education, *RESUME.education)), "education[1]"),
    ],
)  # fmt: skip
def test_every_other_part_is_the_profiles_too(document: ResumeDocument, where: str) -> None:
    assert list(refuse_resume(document)) == [where]


def test_all_problems_are_named_at_once() -> None:
    line = RESUME.experience[0].lines[1]
    document = replace(edit_line(line.text.replace("240", "24"), *line.evidence_ids), name="X", label="Y")

    assert set(refuse_resume(document)) == {"name", "label", "experience[0].lines[1]"}


def test_the_reason_is_readable_as_one_text() -> None:
    with pytest.raises(NotGrounded, match=r"name: This is not the candidate's name\."):
        check_resume(replace(RESUME, name="X"), profile=ANAIS)


@pytest.mark.parametrize(
    ("shown", "start", "end", "grounded"),
    [
        ("Mar 2021 – Present", "2021-03", "", True),
        ("March 2021 - now", "2021-03-15", "", True),
        ("2013 – 2014", "2013-12-01", "2014-12-01", True),
        ("2013-12 – 2014-12", "2013-12-01", "2014-12-01", True),
        ("2014", "2014-02", "2014-11", True),
        ("Aug 2016", "2016-08-24", "2016-08-24", True),
        ("", "2016", "2017", True),
        ("Mar 2021 – Present", "2021-03", "2022-01", False),
        ("Dec 2014 – Dec 2013", "2013-12-01", "2014-12-01", False),
        ("Jan 2013 – Dec 2014", "2013-12-01", "2014-12-01", False),
        ("Dec 2013 – Dec 2014", "2013", "2014", False),
        ("2013 – 2014 (top 1%)", "2013", "2014", False),
        ("Present", "", "", False),
        ("Foo 2014", "2014", "", False),
    ],
)
def test_dates_may_be_shown_in_other_ways_but_not_moved(shown: str, start: str, end: str, grounded: bool) -> None:
    assert (check_dates(shown, start=start, end=end, is_open=bool(start)) == "") is grounded


# --- letters -----------------------------------------------------------------------------------


def test_a_changed_number_in_a_letter_is_named() -> None:
    line = LETTER.paragraphs[1][1]

    problems = refuse_letter(edit_sentence(line.text.replace("€38", "€83"), line.evidence_ids))

    assert problems == {"paragraphs[1][1]": "The evidence it cites does not hold the number “83”."}


def test_a_swapped_employer_is_named() -> None:
    line = LETTER.paragraphs[1][1]

    swapped = refuse_letter(edit_sentence(line.text.replace("Tallyworks", "Halden Freight"), line.evidence_ids))
    invented = refuse_letter(edit_sentence(line.text.replace("Tallyworks", "Stripe"), line.evidence_ids))

    assert "“Halden”, “Freight”" in swapped["paragraphs[1][1]"]
    assert "“Stripe”" in invented["paragraphs[1][1]"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("Backend Engineer", "Lead Engineer"),
        lambda text: text.replace("I designed", "I alone designed"),
        lambda text: text.replace("designed", "did not design"),
        lambda text: text[:-30] + ".",
        lambda text: f"{text} It won a prize.",
        lambda text: text.replace("At ", "Earlier, at "),
        lambda text: text.replace("As a", "As the"),
    ],
)
def test_a_sentence_is_its_frame_and_its_fact_and_nothing_else(change: Callable[[str], str]) -> None:
    line = LETTER.paragraphs[1][1]
    changed = change(line.text)

    if changed != line.text:
        assert list(refuse_letter(edit_sentence(changed, line.evidence_ids))) == ["paragraphs[1][1]"]


def test_a_dropped_or_unknown_id_is_refused() -> None:
    line = LETTER.paragraphs[1][1]

    assert refuse_letter(edit_sentence(line.text, ())) == {
        "paragraphs[1][1]": "It cites no evidence and is not one of the fixed phrases."
    }
    assert refuse_letter(edit_sentence(line.text, ("bul-0000000000",))) == {
        "paragraphs[1][1]": "The profile has no evidence “bul-0000000000”."
    }
    assert "paragraphs[1][1]" in refuse_letter(edit_sentence(line.text, (*line.evidence_ids, "summary")))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("I am the best engineer in Berlin.", ()),
        ("Lumenpay is a fast-growing leader in payments.", ()),
        ("I have 12 years of experience.", ("summary",)),
        ("I like small services with clear owners.", ("summary",)),
        ("Thank you for your time and my consideration.", ()),
        ("I currently work as a Backend Engineer at Tallyworks.", (ANAIS.experience[1].id,)),
        ("Most recently, I worked as a Backend Engineer at Tallyworks.", (ANAIS.experience[1].id,)),
        ("Of the skills your posting names, mine include Haskell.", (ANAIS.skills[0].id,)),
        ("Your posting asks for ten years of Rust.", ()),
        ("Your posting asks for someone like me.", ()),
        ("Your posting asks for Python and Haskell.", ()),
        ("Your posting asks for Python. I won the Turing Award.", ()),
        ("Your posting asks for [Requirement Number].", ()),
        ("I am writing to apply for the CTO role at Lumenpay.", ()),
    ],
)
def test_an_added_sentence_is_refused(text: str, ids: tuple[str, ...]) -> None:
    last = len(LETTER.paragraphs) - 1

    assert f"paragraphs[{last}][{len(LETTER.paragraphs[-1])}]" in refuse_letter(add_sentence(text, *ids))


def test_what_a_model_may_say_in_other_words_of_the_frames() -> None:
    bullet = ANAIS.experience[2].bullets[0]

    check_letter(
        add_sentence(f"Earlier, as a Software Developer at Studio Querfeld, I d{bullet.text[1:]}.", bullet.id),
        profile=ANAIS,
        posting=POSTING,
    )
    check_letter(
        add_sentence("I currently work as a Senior Backend Engineer at Halden Freight.", ANAIS.experience[0].id),
        profile=ANAIS,
        posting=POSTING,
    )


def test_a_passive_bullet_may_not_be_turned_round() -> None:
    own = (Bullet("bul-1", "Awarded 'Teacher of the Month'"),)
    profile = ProfileDocument(
        name="Greta", experience=(Experience("exp-1", "work", "Northwind", "Teacher", bullets=own),)
    )
    document = LetterDocument(
        name="Greta",
        contacts=(),
        company="",
        title="",
        greeting="Dear Hiring Team,",
        paragraphs=((Line("At Northwind, I awarded 'Teacher of the Month'.", ("bul-1",)),),),
        closing="Kind regards,",
        signature="Greta",
    )

    assert "paragraphs[0][0]" in refuse_letter(document, profile)


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (replace(LETTER, greeting="Dear Hiring Team at Stripe,"), "greeting"),
        (replace(LETTER, greeting="Dear [Hiring Manager],"), "greeting"),
        (replace(LETTER, closing="Sent from my phone"), "closing"),
        (replace(LETTER, signature="Anaïs Müller"), "signature"),
        (replace(LETTER, name="A. Krüger"), "name"),
        (replace(LETTER, date="next week"), "date"),
        (replace(LETTER, title="{{TITLE}}", paragraphs=LETTER.paragraphs[1:]), "title"),
        (replace(LETTER, contacts=(ContactLine("+1 202 555 0100"),)), "contacts[0]"),
        (replace(LETTER, paragraphs=((Line("Thank you for your time and consideration."),),)), "paragraphs"),
        (replace(LETTER, paragraphs=(*LETTER.paragraphs, (LETTER.paragraphs[1][1],))), "paragraphs[4][0]"),
    ],
)
def test_head_and_foot_are_checked_too(document: LetterDocument, where: str) -> None:
    assert list(refuse_letter(document)) == [where]


@pytest.mark.parametrize("title", ["Engineer role. I hold a Nobel prize", "Engineer, my dream", "Engineer " * 30])
def test_a_title_may_not_speak_for_the_candidate(title: str) -> None:
    opening = Line(f"I am writing to apply for the {title} role at Lumenpay.")
    document = replace(LETTER, title=title, paragraphs=((opening,), *LETTER.paragraphs[1:]))

    assert "title" in refuse_letter(document)


def test_without_the_posting_a_number_it_is_said_to_ask_for_is_refused() -> None:
    document = add_sentence("You also ask for 5+ years of experience building backend services in Python.")
    where = f"paragraphs[{len(LETTER.paragraphs) - 1}][{len(LETTER.paragraphs[-1])}]"

    check_letter(document, profile=ANAIS, posting=POSTING)
    assert list(refuse_letter(document, posting="")) == [where]


@pytest.mark.parametrize(
    "text",
    [
        "Dear {{COMPANY}},", "[Company Name]", "[Your Name]", "<company>", "[INSERT_METRIC]", "at ${company}",
        "Lorem ipsum dolor", "[Hiring Manager]", "{{ company_name }}", "<Job Title>",
    ],
)  # fmt: skip
def test_leftovers_of_a_template_are_found(text: str) -> None:
    assert find_leftovers(text)


@pytest.mark.parametrize(
    "text",
    [
        "Replaced $& in {braces}",
        "Built a TODO app",
        "List<String> in Java",
        "[1] see notes",
        "Vue {{ }} syntax",
        "x < 3 > y",
    ],
)
def test_a_candidates_own_braces_are_no_leftovers(text: str) -> None:
    assert not find_leftovers(text)


@pytest.mark.parametrize("text", ["TODO", "{{ anything }}", "Engineer <b>", "XXX", "${x}"])
def test_text_that_is_not_the_candidates_is_suspected_sooner(text: str) -> None:
    assert find_suspects(text)


def test_a_placeholder_in_the_candidates_own_words_stops_the_document() -> None:
    bullet = Bullet("bul-1", "Raised revenue at [Company Name] by 40%")
    profile = ProfileDocument(name="G", experience=(Experience("e", "work", "Northwind", "Dev", bullets=(bullet,)),))
    entry = ResumeEntry("e", "Dev", "Northwind", lines=(Line(bullet.text, ("bul-1",)),))
    document = ResumeDocument(name="G", label="", contacts=(), summary=(), skills=(), experience=(entry,))

    assert refuse_resume(document, profile) == {"experience[0].lines[0]": "A placeholder is left: “[Company Name]”."}


_positions = st.floats(min_value=0, max_value=1, exclude_max=True)


@settings(max_examples=150, deadline=None)
@given(_positions, _positions, st.sampled_from("aZ9§ж") | st.just(""))
def test_no_single_changed_letter_passes(which: float, place: float, letter: str) -> None:
    places = [(p, i) for p, lines in enumerate(LETTER.paragraphs) for i in range(len(lines))]
    paragraph, index = places[int(which * len(places))]
    line = LETTER.paragraphs[paragraph][index]
    at = int(place * (len(line.text) - 1))
    changed = line.text[:at] + letter + line.text[at + 1 :]

    if changed.split() == line.text.split():
        return
    document = edit_sentence(changed, line.evidence_ids, paragraph=paragraph, index=index)

    assert f"paragraphs[{paragraph}][{index}]" in refuse_letter(document)
