"""The parts that pages are made of. Each renders one small piece of markup that ``docs/pages.md`` shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from operations.wording import (
    STAGE_NAMES,
    STRIP_STAGES,
    StageMark,
    Tone,
    Wording,
    count_of,
    describe_distance,
    describe_entry,
    describe_money,
    describe_run,
    describe_seconds,
    mark_stage,
    name_workflow,
)

register = template.Library()

UTC_FORMAT: Final = "%Y-%m-%d %H:%M:%S UTC"
SAME_DAY: Final = timedelta(hours=20)


# --- times and quantities ----------------------------------------------------------------------


@register.simple_tag
def moment(value: datetime | None, style: str = "relative") -> SafeString:
    """A time in the reader's zone with UTC on hover.

    ``relative`` ("2 h ago"), ``clock``, ``date`` or ``full``; ``minute`` is ``14:20``, with the date after 20 h.
    """
    if value is None:
        return format_html('<span class="muted">{}</span>', "not yet")
    at = value.astimezone(UTC)
    text = {
        "relative": describe_distance(at, timezone.now()),
        "minute": f"{at:%H:%M}" if abs(timezone.now() - at) < SAME_DAY else f"{at:%Y-%m-%d %H:%M}",
        "clock": f"{at:%H:%M:%S}",
        "date": f"{at:%Y-%m-%d}",
        "full": f"{at:%Y-%m-%d %H:%M}",
    }[style]
    return format_html(
        '<time datetime="{}" title="{}" data-moment="{}">{}</time>',
        f"{at:%Y-%m-%dT%H:%M:%SZ}",
        at.strftime(UTC_FORMAT),
        style,
        text,
    )


@register.filter
def as_moment(value: str | datetime | None) -> datetime | None:
    """A time that a projection keeps as text."""
    return datetime.fromisoformat(value) if isinstance(value, str) and value else value or None


@register.simple_tag
def workflow_name(workflow_type: str) -> str:
    return name_workflow(workflow_type)


@register.filter
def seconds(value: float | timedelta | None) -> str:
    """A length of time, ``3 min 5 s``; a dash when it is not known."""
    if value is None:
        return "–"
    return describe_seconds(value.total_seconds() if isinstance(value, timedelta) else value)


@register.filter
def milliseconds(value: float | None) -> str:
    return "–" if value is None else describe_seconds(value / 1000)


@register.filter
def money(value: Decimal | float | None) -> str:
    return describe_money(value)


@register.filter
def counted(number: int, noun: str) -> str:
    """``{{ 3|counted:"job" }}`` is ``3 jobs``; an irregular plural follows a comma: ``"entry,entries"``."""
    singular, _, plural = noun.partition(",")
    return count_of(number, singular, plural)


@register.filter
def grouped(number: int | str | None) -> str:
    """``1,204``; a dash when it is not known; a text stays as it is."""
    if number is None:
        return "–"
    return number if isinstance(number, str) else f"{number:,}"


# --- states ------------------------------------------------------------------------------------


@register.simple_tag
def state_chip(state: Wording | str, tone: str = "idle") -> SafeString:
    """A chip of a ``Wording``, or of a word and a tone. Its sentence stands on hover and for screen readers."""
    wording = state if isinstance(state, Wording) else Wording(state, Tone(tone))
    if not wording.sentence:
        return format_html('<span class="chip {}">{}</span>', wording.tone, wording.word)
    return format_html(
        '<span class="chip {}" title="{}">{}<span class="sr-only">. {}</span></span>',
        wording.tone,
        wording.sentence,
        wording.word,
        wording.sentence,
    )


@register.simple_tag(takes_context=True)
def run_chip(
    context: Context, status: str, error_code: str = "", *, cancel_requested: bool = False, provisional: bool = False
) -> SafeString:
    """An open run's chip does not say that it runs while Temporal cannot be asked."""
    shell = context.get("shell")
    wording = describe_run(
        status,
        error_code=error_code,
        cancel_requested=cancel_requested,
        provisional=provisional,
        is_checked=not (shell and shell.temporal.is_lost),
    )
    return state_chip(wording)


@register.simple_tag
def stage_chip(stage: str, entry: str | Mapping[str, Any] | None) -> SafeString:
    """The chip of one stage: of its state, or of its entry in the detail projection."""
    return state_chip(describe_entry(stage, entry))


_MARK_WORDS: Final = {
    StageMark.DONE: "done",
    StageMark.RUNNING: "running",
    StageMark.WAITING: "waiting",
    StageMark.FAILED: "failed",
    StageMark.TODO: "to come",
    StageMark.UNKNOWN: "unknown",
}


@register.simple_tag
def stage_strip(stages: Mapping[str, str | Mapping[str, Any]], *, large: bool = False) -> SafeString:
    """Five blocks: how far a job is. Reads as "Enrich done, Score running, ..." to a screen reader."""
    marks = [(STAGE_NAMES[stage].label, mark_stage(stages.get(stage))) for stage in STRIP_STAGES]
    text = ", ".join(f"{label} {_MARK_WORDS[mark]}" for label, mark in marks)
    blocks = format_html_join("", '<i class="{}"></i>', ((mark,) for _, mark in marks))
    size = " large" if large else ""
    return format_html(
        '<span class="strip{}" role="img" aria-label="{}" title="{}">{}</span>', size, text, text, blocks
    )


@register.simple_tag
def stage_label(stage: str) -> str:
    return STAGE_NAMES[stage].label if stage in STAGE_NAMES else stage


@register.simple_tag
def stage_noun(stage: str) -> str:
    """``tailoring``, within a sentence."""
    return STAGE_NAMES[stage].noun.lower() if stage in STAGE_NAMES else stage


@register.simple_tag
def fit_score(value: int | None, threshold: int = 7) -> SafeString:
    """The score's block: green from the threshold on, grey below it, a dash before scoring."""
    if value is None:
        return format_html(
            '<span class="score none"><span aria-hidden="true">{}</span>{}</span>', "–", _hidden("not scored")
        )
    tone = "good" if value >= threshold else "idle"
    return format_html('<span class="score {}">{}{}</span>', tone, value, _hidden(" of 10"))


def _hidden(text: str) -> SafeString:
    return format_html('<span class="sr-only">{}</span>', text)


# --- bars and charts ---------------------------------------------------------------------------


@register.simple_tag
def progress(done: int, total: int, *, running: int = 0, failed: int = 0, label: str = "") -> SafeString:
    """A bar with "N of M" for screen readers; the page writes the same beside it. Widths are SVG attributes."""
    parts, at = [], 0.0
    for tone, count in (("good", done), ("running", running), ("person", failed)):
        width = min(100 * count / total, 100 - at) if total else 0.0
        if width > 0:
            parts.append((tone, f"{at:.2f}%", f"{width:.2f}%"))
        at += max(width, 0.0)
    bars = format_html_join("", '<rect class="{}" x="{}" width="{}" height="100%"/>', parts)
    text = f"{label}: {done} of {total}" if label else f"{done} of {total}"
    return format_html(
        '<svg class="bar" role="progressbar" aria-valuemin="0" aria-valuenow="{}" aria-valuemax="{}" aria-label="{}">'
        "{}</svg>",
        done,
        total,
        text,
        bars,
    )


@dataclass(frozen=True, slots=True)
class ChartBar:
    """``text`` is the value as the table behind the chart says it."""

    label: str
    value: float
    text: str
    tone: str = "running"


CHART_WIDTH: Final = 640
CHART_HEIGHT: Final = 120


@register.inclusion_tag("_chart.html")
def bar_chart(bars: Sequence[ChartBar], *, title: str, label_heading: str, value_heading: str) -> dict[str, Any]:
    """Upright bars of equal width with a table of the same figures behind them."""
    top = max((bar.value for bar in bars), default=0) or 1
    step = CHART_WIDTH / max(len(bars), 1)
    drawn = []
    for index, bar in enumerate(bars):
        height = CHART_HEIGHT * max(bar.value, 0) / top
        drawn.append(
            {
                "bar": bar,
                "x": f"{index * step + step * 0.14:.1f}",
                "y": f"{CHART_HEIGHT - height:.1f}",
                "width": f"{step * 0.72:.1f}",
                "height": f"{height:.1f}",
            }
        )
    return {
        "bars": drawn,
        "title": title,
        "label_heading": label_heading,
        "value_heading": value_heading,
        "width": CHART_WIDTH,
        "height": CHART_HEIGHT,
    }


# --- links -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FilterPill:
    """One choice of a filter; ``count`` ``None`` = not counted."""

    label: str
    url: str
    is_current: bool
    count: int | str | None = None
    tone: str = ""
