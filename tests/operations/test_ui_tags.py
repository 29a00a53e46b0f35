"""The template tags that pages are made of."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.template import Context, Template

from operations.templatetags.ui import ChartBar, FilterPill
from operations.wording import Tone, Wording, describe_distance

NOON = datetime(2026, 7, 3, 12, 0, tzinfo=UTC)


def _render(source: str, **context: Any) -> str:
    return Template("{% load ui %}" + source).render(Context(context)).strip()


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (timedelta(seconds=10), "just now"),
        (timedelta(seconds=-10), "in a moment"),
        (timedelta(seconds=50), "1 min ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23, minutes=30), "23 h ago"),
        (timedelta(days=4), "4 d ago"),
        (timedelta(hours=-3), "in 3 h"),
        (timedelta(days=40), "2026-05-24"),
    ],
)
def test_it_says_how_long_ago(gap: timedelta, text: str) -> None:
    assert describe_distance(NOON - gap, NOON) == text


def test_it_shows_the_utc_value_of_a_time_in_any_zone() -> None:
    berlin = NOON.astimezone(timezone(timedelta(hours=2)))

    html = _render('{% moment at "clock" %}', at=berlin)

    assert 'datetime="2026-07-03T12:00:00Z"' in html
    assert 'title="2026-07-03 12:00:00 UTC"' in html
    assert ">12:00:00<" in html


def test_it_says_so_when_a_time_is_not_known() -> None:
    assert "not yet" in _render("{% moment at %}", at=None)


def test_it_escapes_what_a_chip_carries() -> None:
    html = _render("{% state_chip wording %}", wording=Wording("<b>", Tone.PERSON, 'say "no"'))

    assert "<b>" not in html
    assert 'class="chip person"' in html
    assert 'title="say &quot;no&quot;"' in html


def test_it_makes_a_chip_of_a_word_and_a_tone() -> None:
    assert _render('{% state_chip "Started" "running" %}') == '<span class="chip running">Started</span>'


def test_it_reads_a_strip_aloud() -> None:
    stages = {"enrich": "succeeded", "score": {"state": "failed", "retryable": False}}

    html = _render("{% stage_strip stages %}", stages=stages)

    assert 'aria-label="Enrich done, Score failed, Tailor to come, Cover to come, PDF to come"' in html
    assert html.count("<i class=") == 5


def test_it_chips_a_stage_of_its_detail_entry() -> None:
    entry = {"state": "blocked", "reasonCode": "UPSTREAM_FAILED", "blockedBy": "tailor"}

    assert "Waits for tailoring" in _render('{% stage_chip "cover" entry %}', entry=entry)


@pytest.mark.parametrize(("value", "kind"), [(7, "good"), (6, "idle"), (None, "none")])
def test_it_colours_a_score_from_the_threshold_on(value: int | None, kind: str) -> None:
    assert f'class="score {kind}"' in _render("{% fit_score value 7 %}", value=value)


def test_it_never_draws_a_bar_beyond_its_end() -> None:
    html = _render("{% progress 8 10 running=5 failed=3 label='Score' %}")

    assert 'aria-label="Score: 8 of 10"' in html
    assert 'x="80.00%" width="20.00%"' in html
    assert "person" not in html
    assert "style=" not in html


def test_it_draws_an_empty_bar_of_nothing() -> None:
    assert "<rect" not in _render("{% progress 0 0 %}")


def test_it_puts_a_table_behind_a_chart() -> None:
    bars = [ChartBar("Jul 2", 0, "$0.00"), ChartBar("Jul 3", 1.84, "$1.84")]

    html = _render('{% bar_chart bars title="Spend" label_heading="Day" value_heading="Spent" %}', bars=bars)

    assert html.count("<rect") == 2
    assert '<td class="num">$1.84</td>' in html
    assert "style=" not in html


def test_it_says_so_when_there_is_nothing_to_draw() -> None:
    html = _render('{% bar_chart bars title="Spend" label_heading="Day" value_heading="Spent" %}', bars=[])

    assert "Nothing to draw yet" in html


def test_it_marks_the_filter_in_use() -> None:
    pills = [FilterPill("All", "?", True), FilterPill("Needs me", "?needs=me", False, 3, "person")]

    html = _render('{% include "_filters.html" with pills=pills label="Jobs to show" %}', pills=pills)

    assert html.count('aria-current="true"') == 1
    assert '<span class="count">3</span>' in html


def test_it_writes_quantities() -> None:
    assert _render("{{ 185|seconds }} {{ 420|milliseconds }} {{ none|grouped }}", none=None) == "3 min 5 s 0.4 s –"
    assert _render('{{ 1|counted:"entry,entries" }}, {{ 2|counted:"entry,entries" }}') == "1 entry, 2 entries"
