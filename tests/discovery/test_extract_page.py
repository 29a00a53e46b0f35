"""Pages as they were seen in the wild, and what each of them says."""

import time
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from discovery.contracts import ActiveState, ContentTier, PageContent, PayPeriod, Salary, WorkMode
from discovery.pages import extract_page

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
NOW = datetime(2026, 11, 29, tzinfo=UTC)  # the date of the files
URL = "https://board.example.com/jobs/1"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not here")


def extract(name: str) -> PageContent:
    return extract_page((DATA / name).read_text(encoding="utf-8"), url=URL, now=NOW)


@needs_data
@pytest.mark.parametrize(
    ("name", "title", "company", "place", "kind", "posted", "valid_through", "starts", "active"),
    [
        (
            "jsonld-html/indeed-viewjob-2026.html", "Senior DevOps Engineer", "PaperCut Software",
            "Camberwell, VIC, AU", "FULL_TIME", datetime(2026, 8, 6, 7, 39, 35, 941000, UTC),
            datetime(2026, 12, 12, 9, 37, 46, 463000, UTC),
            "Company Description\n\nAt PaperCut, we believe two things: great code can change", ActiveState.ACTIVE,
        ),
        (
            "jsonld-html/neura-literal-backslash-n.html", "Manager Ecosystem Integration & Certification (Human)",
            "Neura Robotics GmbH", "Metzingen, DE", "", datetime.fromisoformat("2025-11-06T00:00:00+01:00"),
            datetime.fromisoformat("2035-11-06T00:00:00+01:00"),
            "Your mission & challenges\n\nAs the Manager Ecosystem", ActiveState.ACTIVE,
        ),
        (
            "jsonld-html/stackoverflow-job.html", "Solution Engineer (M/F/X)", "QUAJOO GmbH", "Leipzig, DE", "FULL_TIME",
            datetime(2020, 3, 24, tzinfo=UTC), datetime(2021, 2, 3, 23, 59, 59, tzinfo=UTC),
            "About this job\n\nJob type: Full-time\nExperience level: Junior,", ActiveState.CLOSED,
        ),
        (
            "jsonld-html/stackoverflow-via.html", "Senior Full-stack web developer - Python", "CBOE Global Markets",
            "London, GB", "FULL_TIME", datetime(2020, 4, 23, tzinfo=UTC), datetime(2020, 12, 31, 23, 59, 59, tzinfo=UTC),
            "About this job\n\nCompensation: £85k - 110k\nJob type: Full-time", ActiveState.CLOSED,
        ),
        (
            "jsonld-html/wwr-job.html", "DevOps Engineer, Kubernetes, AWS/GCP", "Bluelight Consulting", "Sacramento, CA",
            "Full-Time", datetime(2020, 10, 20, 20, 28, 32, tzinfo=UTC), datetime(2020, 11, 19, 20, 28, 32, tzinfo=UTC),
            "DESCRIPTION\n\nDevOps-as-a-Service provider, Bluelight Consulti", ActiveState.CLOSED,
        ),
        (
            "jsonld-html/wwr-no-image.html", "Devops Engineer", "Stealth Co", "San Francisco", "Full-Time",
            datetime(2020, 10, 20, 20, 55, 7, tzinfo=UTC), datetime(2020, 11, 19, 20, 55, 7, tzinfo=UTC),
            "We are a stealth software company looking for an experienced", ActiveState.CLOSED,
        ),
        (
            "teamtailor/job-page-paradox.html", "Game Programmer", "Paradox Interactive", "Delft, NL", "FULL_TIME",
            datetime.fromisoformat("2025-12-15T08:15:00+01:00"), None, "", ActiveState.ACTIVE,
        ),
    ],
)  # fmt: skip
def test_it_reads_structured_data(
    name: str, title: str, company: str, place: str, kind: str, posted: datetime, valid_through: datetime | None,
    starts: str, active: ActiveState,
) -> None:  # fmt: skip
    page = extract(name)

    assert page.tier is ContentTier.JSON_LD
    assert (page.title, page.company, page.location, page.places) == (title, company, place, (place,))
    assert (page.employment_type, page.posted_at, page.valid_through) == (kind, posted, valid_through)
    assert page.description.startswith(starts)
    assert bool(page.description) is bool(starts)
    assert "<" not in page.description and "\\n" not in page.description and "&amp;" not in page.description
    assert page.active is active
    assert page.evidence == ("VALID_THROUGH_PAST" if active is ActiveState.CLOSED else "")


@needs_data
def test_it_reads_the_pay_of_real_pages() -> None:
    assert extract("jsonld-html/indeed-viewjob-2026.html").salary == Salary(
        Decimal(130000), Decimal(160000), "AUD", PayPeriod.YEAR
    )
    assert extract("jsonld-html/stackoverflow-via.html").salary == Salary(
        Decimal(85000), Decimal(110000), "GBP", PayPeriod.YEAR
    )
    assert extract("html-nojsonld/jobscz-standard-cs.html").salary == Salary(
        Decimal(50000), Decimal(80000), "CZK", PayPeriod.UNKNOWN
    )
    assert extract("jsonld-html/wwr-job.html").salary is None


@needs_data
def test_it_takes_no_broken_or_front_page_url_for_an_application_url() -> None:
    stealth = extract("jsonld-html/wwr-no-image.html")
    assert (stealth.apply_url, stealth.warnings) == ("", ("URL_INVALID",))
    assert extract("jsonld-html/wwr-job.html").apply_url == ""

    assert extract("jsonld-html/indeed-viewjob-2026.html").apply_url == URL  # directApply
    assert extract("teamtailor/job-page-paradox.html").apply_url == (
        "https://career.paradoxplaza.com/jobs/6926996-game-programmer"
    )


@needs_data
def test_it_leaves_the_eligibility_of_remote_work_unknown_when_the_page_does() -> None:
    page = extract("jsonld-html/wwr-job.html")

    assert (page.mode, page.remote_eligibility) == (WorkMode.REMOTE, "")


@needs_data
@pytest.mark.parametrize(
    ("name", "title", "company", "place", "starts", "holds"),
    [
        (
            "html-nojsonld/jobscz-standard-cs.html",
            "Frontend Developer | Vue.js, TypeScript | 50-80.000 Kč",
            "Jobs Contact Personal, s.r.o.",
            "Brno",
            "Pracovní nabídka\n\nBaví Tě frontend?",
            "aplikace uživatelský přívětivé",
        ),
        (
            "html-nojsonld/linkedin-job-page.html",
            "Senior Software Engineer - Developer Experience",
            "Heidi",
            "Melbourne, Victoria, Australia",
            "Who We Are\n\nHealthcare needs a better rhythm",
            "build systems",
        ),
        (
            "closed/linkedin-open-control.html",
            "Junior Application Developer - IT Trainee/Student",
            "IBM",
            "Bratislava, Bratislava, Slovakia",
            "Introduction\n\nHave you not graduated yet?",
            "IBM Slovakia",
        ),
    ],
)
def test_it_reads_known_layouts_without_structured_data(
    name: str, title: str, company: str, place: str, starts: str, holds: str
) -> None:
    page = extract(name)

    assert page.tier is ContentTier.SELECTORS
    assert (page.title, page.company, page.location) == (title, company, place)
    assert page.description.startswith(starts)
    assert holds in page.description
    assert "People also viewed" not in page.description
    assert (page.active, page.evidence) == (ActiveState.ACTIVE, "")


@needs_data
def test_it_sees_that_a_closed_page_is_closed() -> None:
    page = extract("closed/linkedin-guest-closed-snippet.html")

    assert (page.active, page.evidence) == (ActiveState.CLOSED, "NOTICE_NOT_ACCEPTING")
    assert (page.title, page.company) == ("Staff Software Engineer", "Acme Corporation")


@needs_data
@pytest.mark.parametrize("name", ["html-nojsonld/linkedin-job-page.html", "html-nojsonld/jobscz-standard-cs.html"])
def test_it_reads_an_unknown_layout_as_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discovery.pages.layouts.LAYOUTS", ())

    page = extract(name)

    assert page.tier is ContentTier.READABLE_TEXT
    assert page.title.startswith(("Senior Software Engineer", "Frontend Developer"))
    assert len(page.description) > 2000
    assert page.active is ActiveState.ACTIVE


ARTICLE = (
    "<h1>Gardener</h1><article>"
    + "<p>You will care for the trees and the roses of a large park.</p>" * 12
    + "</article>"
)


def test_it_reads_any_page_as_text() -> None:
    page = extract_page(f"<html><body>{ARTICLE}</body></html>", url=URL, now=NOW)

    assert (page.tier, page.title, page.active) == (ContentTier.READABLE_TEXT, "Gardener", ActiveState.ACTIVE)
    assert "roses of a large park" in page.description


def test_an_employer_may_be_called_404() -> None:
    text = "You write every day. " * 14
    page = extract_page(f"<title>404 Media – Reporter</title><body><p>{text}</p>", url=URL, now=NOW)

    assert page.active is ActiveState.ACTIVE


@pytest.mark.parametrize(
    ("html", "evidence"),
    [
        ("", "NO_CONTENT"),
        ("<html><body></body></html>", "NO_CONTENT"),
        ("<title>Just a moment...</title><body><p>Checking your browser before you go on.</p>", "ACCESS_WALL"),
        ("<title>Sign in | Board</title><body><form><p>Please sign in to see this page.</p></form>", "ACCESS_WALL"),
        ("<title>Page not found</title><body><p>Perhaps one of these jobs is for you?</p>", "NOT_FOUND"),
        ("<title>Error 404 (Not Found)!!1</title><body><p>That is an error.</p>", "NOT_FOUND"),
        ("<title>404 - Seite nicht gefunden</title><body><p>Zur Startseite</p>", "NOT_FOUND"),
        ("<title>404 | Board</title><body><p>This is not the page you are looking for.</p>", "NOT_FOUND"),
        ("<title>Board</title><body><p>You need to enable JavaScript to run this app.</p>", "NEEDS_BROWSER"),
    ],
)
def test_it_does_not_take_a_wall_for_an_open_posting(html: str, evidence: str) -> None:
    page = extract_page(html, url=URL, now=NOW)

    assert (page.active, page.evidence) == (ActiveState.UNKNOWN, evidence)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000 + "JobPosting",
        "<p>" + "".join(f"<font size={size}>" for size in range(400)) + "<p>x" * 20_000,
        "<script type='application/ld+json'>"
        + '{"@type":"JobPosting","description":"'
        + "<b><i>" * 50_000
        + '"}</script>',
        "<script type='application/ld+json'>" + '{"@graph":' * 50_000 + "</script>JobPosting",
        "<script type='application/ld+json'>" + "[" * 50_000 + '{"@type":"JobPosting"}' + "]" * 50_000,
        '<script type=\'application/ld+json\'>{"@type":"JobPosting","title":7,"description":{},"baseSalary":[[]],'
        '"jobLocation":7,"hiringOrganization":[[]],"validThrough":5,"datePosted":"0001-01-01T00:00:00+14:00",'
        '"employmentType":{"a":1},"url":["x"],"potentialAction":[7]}</script>',
        "\x00<p>\ud800</p>",
        "<!--" * 1000,
        "<a><div><nav><aside hidden><div class='similar-jobs'>" * 300,
    ],
    ids=[
        "deep markup",
        "endless fonts",
        "deep description",
        "deep graph",
        "deep lists",
        "wrong types",
        "broken text",
        "comments",
        "doomed in doomed",
    ],
)
def test_it_survives_hostile_pages(html: str) -> None:
    began = time.monotonic()

    page = extract_page(html, url=URL, now=NOW)

    assert page.salary is None
    assert page.posted_at is None
    assert time.monotonic() - began < 3.0


def test_it_leaves_markup_that_it_refuses_to_a_person() -> None:
    page = extract_page("<div>" * 50_000 + "This role is open", url=URL, now=NOW)

    assert (page.active, page.evidence) == (ActiveState.UNKNOWN, "MARKUP_REFUSED")


def test_it_closes_a_bare_end_date_only_after_its_day() -> None:
    html = '<script type="application/ld+json">{"@type":"JobPosting","title":"A","validThrough":"2026-11-29"}</script>'

    def judge(moment: datetime) -> ActiveState:
        return extract_page(html, url=URL, now=moment).active

    assert judge(datetime(2026, 11, 29, 23, tzinfo=UTC)) is ActiveState.ACTIVE
    assert judge(datetime(2026, 11, 30, 1, tzinfo=UTC)) is ActiveState.CLOSED
    valid_through = extract_page(html, url=URL, now=NOW).valid_through
    assert valid_through is not None
    assert valid_through.date() == date(2026, 11, 29)
