"""What the command palette finds beside the pages: jobs and runs."""

from typing import Any, Final

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from operations.listing.jobs import JobFilter, list_jobs
from operations.listing.runs import RunFilter, list_runs
from operations.wording import describe_run, name_workflow

FOUND_LIMIT: Final = 10
TEXT_LIMIT: Final = 100


@require_GET
def search_palette(request: HttpRequest) -> JsonResponse:
    """At most ten jobs and ten runs: each an entry of ``label``, ``detail`` and ``url``."""
    text = request.GET.get("q", "").replace("\x00", "").strip()[:TEXT_LIMIT]
    if not text:
        return JsonResponse({"jobs": [], "runs": []})
    return JsonResponse({"jobs": _find_jobs(text), "runs": _find_runs(text)})


def _find_jobs(text: str) -> list[dict[str, Any]]:
    page = list_jobs(JobFilter(text=text), now=timezone.now(), limit=FOUND_LIMIT)
    return [
        {
            "label": row.title or "Untitled posting",
            "detail": " · ".join(part for part in (row.company, row.location) if part),
            "url": f"/jobs/{row.job_id}/",
        }
        for row in page.rows
    ]


def _find_runs(text: str) -> list[dict[str, Any]]:
    page = list_runs(RunFilter(text=text), limit=FOUND_LIMIT)
    return [
        {
            "label": f"{name_workflow(row.workflow_type)}: {row.workflow_id}",
            "detail": describe_run(row.status, error_code=row.error_code, provisional=row.provisional).word,
            "url": f"/runs/{row.run_id}/",
        }
        for row in page.rows
    ]
