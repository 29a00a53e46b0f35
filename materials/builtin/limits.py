"""How much a resume may hold."""

from dataclasses import dataclass, replace

from discovery.contracts import ProfileDocument

LONG_CAREER_YEARS = 10
_PAGE = 56.0


@dataclass(frozen=True, slots=True)
class ResumeLimits:
    """``lines`` is an estimate of printed lines (layout.py); a page takes at least 56 in every style and paper."""

    lines: float = _PAGE
    bullets: int = 16
    bullets_per_job: int = 5
    bullets_per_old_job: int = 3
    enough_bullets: int = 10  # with room for fewer, the next, tighter plan is tried
    volunteering: int = 2
    projects: int = 2
    skills: int = 28
    summary_sentences: int = 3
    credentials: int = 5
    awards: int = 3


ONE_PAGE = ResumeLimits()
TWO_PAGES = ResumeLimits(
    lines=2 * _PAGE - 12,  # entries of up to five bullets are not split between pages
    bullets=24,
    bullets_per_job=7,
    bullets_per_old_job=4,
    enough_bullets=12,
    projects=3,
    skills=36,
    credentials=7,
    awards=5,
)
# Left out first: what a reader misses least. Jobs are not on this list.
_TIGHT = replace(ONE_PAGE, volunteering=0, credentials=3, projects=1, summary_sentences=2)
_TIGHTER_PAGE = (
    replace(ONE_PAGE, volunteering=0, credentials=4),
    _TIGHT,
    replace(_TIGHT, awards=1),
    replace(_TIGHT, projects=0),
    replace(_TIGHT, projects=0, awards=1, summary_sentences=1),
    replace(_TIGHT, projects=0, awards=0, summary_sentences=1, enough_bullets=7),
)
_PAGE_AND_A_HALF = replace(
    TWO_PAGES, bullets=13, bullets_per_job=5, bullets_per_old_job=2, enough_bullets=10, volunteering=1, projects=2
)
_TIGHTER_PAGES = (
    replace(TWO_PAGES, volunteering=0, projects=1, credentials=4),
    replace(TWO_PAGES, volunteering=0, projects=0, credentials=2, summary_sentences=1, skills=24, enough_bullets=0),
)


def list_plans(profile: ProfileDocument) -> tuple[ResumeLimits, ...]:
    """What to try, the first that has room wins: one page for up to ten years of work, else two.

    Years are counted within the profile's own dates; no clock is read.
    """
    two = (TWO_PAGES, *_TIGHTER_PAGES)
    dates = [date for item in profile.experience for date in (item.start, item.end) if date]
    starts = [item.start for item in profile.experience if item.kind == "work" and item.start]
    years = int(max(dates)[:4]) - int(min(starts)[:4]) if starts else 0
    return two if years > LONG_CAREER_YEARS else (ONE_PAGE, *_TIGHTER_PAGE, _PAGE_AND_A_HALF, *two)
