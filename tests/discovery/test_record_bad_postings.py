from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.contracts import PayPeriod, Posting, Salary, SkippedPosting, WorkMode
from discovery.models import Job
from operations.models import JobListProjection
from tests.discovery.cast import BACKEND, BERLIN, SECOND_RUN, accept, find_job

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

BAD: list[tuple[str, dict[str, object], str]] = [
    ("a NUL in the text", {"description": "before\x00after " * 40}, ""),
    ("a NUL in the title", {"title": "Backend\x00 Engineer"}, ""),
    ("a lone surrogate", {"title": "Engineer \ud83d", "company": "\udfffNorthwind", "description": "\ud800" * 9}, ""),
    ("control characters", {"title": "Back\x07end\x1b[31m", "location": "Aus\x0btin", "places": ("\x00", "A\x01")}, ""),
    ("a description of 5 MB", {"description": "word " * 1_000_000}, ""),
    ("an endless address", {"url": "https://example.com/" + "a" * 3_000, "apply_url": "https://e.com/?" + "q" * 4000}, ""),
    ("an address with a NUL", {"url": "https://example.com/\x00"}, ""),
    ("over-long lines", dict.fromkeys(("title", "company", "location", "country", "remote_eligibility", "employment_type", "department", "language"), "x" * 10000), ""),
    ("endless places", {"places": tuple(f"Place {n} " + "p" * 500 for n in range(500))}, ""),
    ("an absurd pay", {"salary": Salary(Decimal("1e30"), Decimal("9999999999.999"), "DOLLARS", PayPeriod.YEAR, "n" * 900)}, ""),
    ("a pay that is no number", {"salary": Salary(Decimal("NaN"), Decimal("-Infinity"), "\x00", PayPeriod.HOUR)}, ""),
    ("times outside the calendar", {"posted_at": datetime.min, "closes_at": datetime(1, 1, 1, tzinfo=UTC)}, ""),
    ("an over-long id", {"external_id": "R" * 201}, "over_long"),
    ("an id with a NUL", {"external_id": "R\x00"}, "missing_id"),
    ("no id", {"external_id": ""}, "missing_id"),
    ("a title of nothing", {"title": " \x00 "}, "missing_title"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "refused"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_it_loses_nothing_to_a_bad_posting_in_the_middle(
    changes: dict[str, object], refused: str, assert_rebuild_matches: Check
) -> None:
    bad = replace(BERLIN, **{"external_id": "bad", **changes})  # type: ignore[arg-type]
    good = [replace(BACKEND, external_id=f"R-{number}") for number in range(4)]

    first = accept(*good[:2], bad, *good[2:])
    again = accept(*good[:2], bad, *good[2:], ref=SECOND_RUN)

    kept = 4 if refused else 5
    assert (first.new, again.new, again.existing, again.updated) == (kept, 0, kept, 0)
    assert [skip.reason for skip in first.skipped] == ([refused] if refused else [])
    assert set(Job.objects.values_list("external_id", flat=True)) >= {posting.external_id for posting in good}
    assert JobListProjection.objects.count() == kept
    assert_rebuild_matches()


def test_it_tells_which_field_was_refused(assert_rebuild_matches: Check) -> None:
    report = accept(replace(BACKEND, external_id="R" * 300))

    assert report.skipped == (SkippedPosting("over_long", "external_id"),)
    assert not Job.objects.exists()
    assert_rebuild_matches()


anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=40) | st.sampled_from(
    ["", "\x00", "\ud800", "x" * 5_000, "ﷺ" * 290, "İ" * 300, "株" * 300, "R&amp;D <b>", "\u202e", "=cmd|' /C'!A0"]
)
amounts = st.none() | st.decimals(allow_nan=True, allow_infinity=True) | st.decimals("0", "1e12", places=3)
moments = st.none() | st.datetimes(timezones=st.none() | st.just(UTC) | st.timezones())
arbitrary = st.builds(
    Posting,
    kind=st.just("greenhouse"),
    board=st.just("northwind"),
    external_id=anything,
    title=anything,
    company=anything,
    url=anything,
    apply_url=anything,
    requisition_id=anything,
    location=anything,
    places=st.lists(anything, max_size=3).map(tuple),
    country=anything,
    mode=st.sampled_from(WorkMode),
    remote_eligibility=anything,
    employment_type=anything,
    department=anything,
    salary=st.none() | st.builds(Salary, amounts, amounts, anything, st.sampled_from(PayPeriod), anything),
    posted_at=moments,
    updated_at=moments,
    closes_at=moments,
    language=anything,
    description=anything,
)


def test_it_accepts_whatever_a_board_may_say(assert_rebuild_matches: Check) -> None:
    @settings(max_examples=60, deadline=None)
    @given(rows=st.lists(arbitrary, min_size=1, max_size=4))
    def accept_between(rows: list[Posting]) -> None:
        middle = len(rows) // 2
        before = Job.objects.count()

        report = accept(*rows[:middle], BACKEND, *rows[middle:])
        after = Job.objects.count()
        again = accept(*rows[:middle], BACKEND, *rows[middle:])

        assert find_job(BACKEND).title == "Backend Engineer"
        assert after == before + report.new
        assert (again.new, again.updated) == (0, 0)
        assert len(report.skipped) + report.new + report.existing <= len(rows) + 1

    accept_between()
    assert_rebuild_matches()
