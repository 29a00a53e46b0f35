"""The boards that are looked at: which, how their last reading ended, and adding one by its address."""

from typing import Any, Final
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from discovery.board_words import describe_failure
from discovery.listing import JOBS_COUNTED, SourceRow, list_sources
from discovery.queries import find_newest_profile_version
from discovery.services.sources import (
    SourceRefused,
    UnknownEntry,
    register_bundled_sources,
    register_source,
    set_source_enabled,
)
from discovery.sources.addresses import is_address, read_board_address
from discovery.sources.base import SOURCES
from discovery.sources.bundled import FAMILY as BUNDLED
from operations.listing.runs import RunFilter, list_runs
from operations.views.estimates import build_estimate
from operations.wording import Tone, Wording, count_of

FIELDS: Final = ("kind", "board", "label", "base_url")
UNKNOWN_ADDRESS: Final = (
    "This is not the address of a Greenhouse, Lever or Ashby board. Paste one such as "
    "https://boards.greenhouse.io/acme, or choose the kind and give the token."
)


@require_GET
def show_sources(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its live part."""
    if request.GET.get("fragment") == "list":
        return render(request, "discovery/_sources.html", build_list())
    return show_page(request, {})


def show_page(
    request: HttpRequest, typed: dict[str, str], *, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    context = build_list() | {
        "kinds": [(source.kind, source.label) for source in SOURCES.values()],
        "typed": typed,
        "errors": errors or {},
        "idempotency_key": str(uuid4()),
        "estimate": build_estimate(),
        "has_profile": find_newest_profile_version() > 0,
    }
    return render(request, "discovery/sources.html", context, status=status)


def build_list() -> dict[str, Any]:
    rows = list_sources()
    running = list_runs(RunFilter(status="open", workflow_type="DiscoverWorkflow"), limit=1).rows
    return {
        "rows": [describe_source(row) for row in rows],
        "enabled": sum(row.enabled for row in rows),
        "off": sum(not row.enabled for row in rows),
        "failed": sum(row.enabled and row.state == "failed" for row in rows),
        "has_samples": any(row.family == BUNDLED for row in rows),
        "running": running[0] if running else None,
    }


def describe_source(row: SourceRow) -> dict[str, Any]:
    kind = SOURCES[row.kind].label if row.kind in SOURCES else row.kind
    return {
        "source": row,
        "name": row.label or row.board,
        "where": " · ".join(
            part
            for part in (
                f"{kind} sample" if row.family == BUNDLED else kind,
                row.board if row.label else "",
                row.base_url,
            )
            if part
        ),
        "state": word_state(row),
        "remedy": word_state(row).sentence if row.enabled and row.state == "failed" else "",
        "jobs": f"{JOBS_COUNTED:,}+" if row.jobs > JOBS_COUNTED else f"{row.jobs:,}",
        "reading": word_reading(row.last_counts),
    }


def word_state(row: SourceRow) -> Wording:
    if not row.enabled:
        return Wording("Off", Tone.IDLE, "It is left out of the next runs. Its jobs stay.")
    if row.state == "new":
        return Wording("Not read yet", Tone.IDLE, "The next run reads it.")
    if row.state != "failed":
        return Wording("Read", Tone.GOOD)
    return describe_failure(row.error_code)


def word_reading(counts: dict[str, int]) -> str:
    """What the last reading brought: ``18 postings, 3 new``; "" where it failed or there was none."""
    if "postings" not in counts:
        return ""
    parts = [count_of(counts["postings"], "posting")]
    for name, word in (("new", "new"), ("updated", "changed"), ("skipped", "unreadable"), ("beyondLimit", "not taken")):
        if counts.get(name):
            parts.append(f"{counts[name]:,} {word}")
    return ", ".join(parts)


@require_POST
def add_source(request: HttpRequest) -> HttpResponse:
    """Add a board by its address, or by kind and token. Refused, the form comes back as it was typed."""
    typed = {name: request.POST.get(name, "").strip() for name in FIELDS}
    kind, board, base_url = typed["kind"], typed["board"], typed["base_url"]
    if is_address(board):
        found = read_board_address(board)
        if found is None:
            return show_page(request, typed, errors={"board": UNKNOWN_ADDRESS}, status=400)
        if kind and kind != found.kind:
            reason = f"This is the address of a {SOURCES[found.kind].label} board. Choose that kind, or leave it open."
            return show_page(request, typed, errors={"kind": reason}, status=400)
        kind, board, base_url = found.kind, found.board, base_url or found.base_url
    elif not kind and board:
        reason = "A token alone does not say where the board is. Choose its kind, or paste its address."
        return show_page(request, typed, errors={"kind": reason}, status=400)
    elif not board:
        return show_page(request, typed, errors={"board": "Paste the board's address, or give its token."}, status=400)
    try:
        source_id = register_source(kind, board, base_url=base_url, label=typed["label"])
    except SourceRefused as refused:
        errors = {refused.field: f"{refused.reason[:1].upper()}{refused.reason[1:]}."}
        return show_page(request, typed, errors=errors, status=400)
    messages.success(request, f"{source_id} is looked at from the next run on.")
    return redirect("discovery:sources")


@require_POST
def add_samples(request: HttpRequest) -> HttpResponse:
    added = register_bundled_sources()
    messages.success(request, f"{count_of(len(added), 'sample board')} are looked at from the next run on.")
    return redirect("discovery:sources")


@require_POST
def switch_source(request: HttpRequest) -> HttpResponse:
    """Turn one board on or off; the pressed button carries its id."""
    enabled = "on" in request.POST
    source_id = request.POST.get("on" if enabled else "off", "")
    try:
        set_source_enabled(source_id, enabled=enabled)
    except UnknownEntry:
        messages.error(request, "There is no such source any more. Reload the page.")
    else:
        what = "is looked at again from the next run on" if enabled else "is left out of the next runs; its jobs stay"
        messages.success(request, f"{source_id} {what}.")
    return redirect("discovery:sources")
