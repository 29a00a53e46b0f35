"""Which sentences close a posting, and which only look like it."""

from datetime import UTC, datetime

import pytest

from discovery.contracts import ActiveState
from discovery.pages import extract_page
from discovery.pages.notices import find_closing_notice, match_notice


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("No longer accepting applications", "NOTICE_NOT_ACCEPTING"),
        ("We are no longer accepting applications for this position.", "NOTICE_NOT_ACCEPTING"),
        ("This job is no longer accepting applications.", "NOTICE_NOT_ACCEPTING"),
        ("This position is not accepting new applicants", "NOTICE_NOT_ACCEPTING"),
        ("This job isn’t available", "NOTICE_UNAVAILABLE"),
        ("This job isn't available anymore", "NOTICE_UNAVAILABLE"),
        ("Sorry, this job is no longer available.", "NOTICE_UNAVAILABLE"),
        ("We’re sorry, but this posting is no longer active", "NOTICE_UNAVAILABLE"),
        ("The job you are looking for is no longer open. See our other jobs.", "NOTICE_UNAVAILABLE"),
        ("The job you requested was removed", "NOTICE_UNAVAILABLE"),
        ("This listing has been taken down", "NOTICE_UNAVAILABLE"),
        ("Job no longer available", "NOTICE_UNAVAILABLE"),
        ("This role is closed", "NOTICE_CLOSED"),
        ("THIS ROLE IS NOW CLOSED!", "NOTICE_CLOSED"),
        ("Thanks for your interest. This vacancy has closed.", "NOTICE_CLOSED"),
        ("Applications for this role are now closed", "NOTICE_CLOSED"),
        ("Applications are closed", "NOTICE_CLOSED"),
        ("Unfortunately, this position has been filled.", "NOTICE_FILLED"),
        ("Position filled", "NOTICE_FILLED"),
        ("This position has been filled and we are no longer accepting applications for it.", "NOTICE_FILLED"),
        ("This role is closed; its description stays online.", "NOTICE_CLOSED"),
        ("This job has expired", "NOTICE_EXPIRED"),
        ("This job has expired and we no longer accept applications.", "NOTICE_EXPIRED"),
        ("This position has been filled, so applications are closed.", "NOTICE_FILLED"),
        ("Applications are closed because this position has been filled.", "NOTICE_CLOSED"),
        ("Thank you for your interest, but this job is no longer available.", "NOTICE_UNAVAILABLE"),
        ("Thanks so much for your interest in Fernhill, but this role is closed.", "NOTICE_CLOSED"),
        ("Diese Stelle ist leider nicht mehr verfügbar.", "NOTICE_UNAVAILABLE"),
        ("Cette offre n’est plus disponible", "NOTICE_UNAVAILABLE"),
    ],
)
def test_it_knows_a_notice(line: str, code: str) -> None:
    assert match_notice(line) == code


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Closed",
        "Apply before this role is closed",
        "If this job isn't available in your country, write to us.",
        "This job isn't available in your country",
        "This role is closed to agencies",
        "This role is not open to visa sponsorship",
        "This position is not available remotely",
        "We will tell you when this position has been filled.",
        "Once this position is filled, we delete your data.",
        "This role is closely tied to sales",
        "We are no longer accepting applications by e-mail; please use the form",
        "Applications are closed on 5 March 2099",
        "Applications close soon",
        "Is this job no longer available?  Ask us",
        "You closed deals and filled positions",
        "This position is filled with adventure",
        "Thank you for your interest",
        "No agencies please. We do not accept submissions.",
        "Agencies – we do not accept candidates",
        "We cannot accept applications – by e-mail.",
        "Thank you for your interest, but we do not accept applications by e-mail.",
        "This role is closed to agencies, so applications are closed to them",
        "This position has been filled, but we always look for engineers",
        "This position has been filled and we are looking for another engineer",
        "We are hiring and this position has been filled",
        "A closed-loop system; expired tokens are no longer accepted",
        "This role is closed. " + "And much more is told in one long paragraph of prose about it all. " * 3,
    ],
)
def test_it_is_not_fooled_by_prose(line: str) -> None:
    assert match_notice(line) == ""


@pytest.mark.parametrize(
    "html",
    [
        "<h2>This job isn’t available</h2>",
        "<div><span>This role</span> <b>is closed</b></div>",
        "<figure><figcaption>No longer accepting applications</figcaption></figure>",
        "<p>This job has expired. <a href='/'>See all jobs</a></p>",
        "<ul><li>This job is no longer available</li></ul>",
        "<p>This&nbsp;role is\n   closed</p>",
    ],
)
def test_it_sees_a_notice_that_stands_alone(html: str) -> None:
    assert find_closing_notice(f"<html><body><h1>Gardener</h1>{html}</body></html>")


@pytest.mark.parametrize(
    "html",
    [
        "<script>var text = 'This role is closed'</script>",
        "<template><p>This role is closed</p></template>",
        "<p hidden>This role is closed</p>",
        "<div style='display: none'><p>This role is closed</p></div>",
        "<div class='alert d-none'>This role is closed</div>",
        "<div aria-hidden='true'><p>This role is closed</p></div>",
        "<aside><p>This role is closed</p></aside>",
        "<nav><ul><li>Position filled</li></ul></nav>",
        "<section class='similar-jobs'><p>No longer accepting applications</p></section>",
        "<a href='/jobs/2'><h3>Cook</h3><p>This job has expired</p></a>",
        "<p>This role is closed <a href='/faq'>to agencies</a></p>",
        "<p>This role is <em>closed</em> to agencies.</p>",
        "<!-- This role is closed -->",
    ],
)
def test_it_overlooks_what_is_hidden_or_about_something_else(html: str) -> None:
    assert find_closing_notice(f"<html><body><h1>Gardener</h1>{html}</body></html>") == ""


def test_it_closes_a_page_that_is_only_a_notice() -> None:
    page = extract_page(
        "<title>Careers</title><body><p>This job isn’t available</p></body>",
        url="https://board.example.com/jobs/1",
        now=datetime(2026, 11, 29, tzinfo=UTC),
    )

    assert (page.active, page.evidence) == (ActiveState.CLOSED, "NOTICE_UNAVAILABLE")
