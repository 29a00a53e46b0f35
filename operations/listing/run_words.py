"""Runs by words: a workflow or run ID or how one begins, the job that a run is about, or why it failed."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from operations.models import JobListProjection, WorkflowRunProjection
from operations.search_index import SHORTEST_TERM, find_matching_jobs
from operations.wording.codes import find_codes

TEXT_WINDOW = 5000
MOST_JOBS = 500
MOST_FOUND = 1000


def find_runs(text: str) -> tuple[Q, tuple[str, ...]]:
    """What a run must be, a bounded set, and what the search had to leave out."""
    if exact := _find_exact(text):
        return exact, ()
    of_jobs, notes = _list_runs_of_jobs(text)
    recent, more_notes = _list_recent(text)
    found = list(dict.fromkeys((*of_jobs, *recent)))
    return Q(run_id__in=found), (*notes, *more_notes)


def _find_exact(text: str) -> Q | None:
    """The runs of one workflow, or one run: a range of an index in the list's order."""
    runs = WorkflowRunProjection.objects
    if runs.filter(run_id=text).exists():
        return Q(run_id=text)
    return Q(workflow_id=text) if runs.filter(workflow_id=text).exists() else None


def _list_runs_of_jobs(text: str) -> tuple[Sequence[str], tuple[str, ...]]:
    terms = text.split()[:8]
    indexed = [term for term in terms if len(term) >= SHORTEST_TERM]
    if not indexed:
        return [], (f"Jobs are found by a word of {SHORTEST_TERM} characters or more.",)
    found = find_matching_jobs(indexed, limit=MOST_JOBS)
    job_ids = _narrow(found.job_ids, [term for term in terms if term not in indexed])
    runs = WorkflowRunProjection.objects.filter(job_id__in=job_ids, job_id__isnull=False)
    ids = list(runs.values_list("run_id", flat=True)[: MOST_FOUND + 1])
    is_cut = found.truncated or len(ids) > MOST_FOUND
    notes = (f"Very many jobs match; runs of {MOST_JOBS:,} of them are looked through.",) if is_cut else ()
    return ids[:MOST_FOUND], notes


def _narrow(job_ids: Sequence[UUID], terms: Sequence[str]) -> Sequence[UUID]:
    """By the words that are too short for the index."""
    if not terms:
        return job_ids
    jobs = JobListProjection.objects.filter(job_id__in=job_ids)
    for term in terms:
        jobs = jobs.filter(Q(title__icontains=term) | Q(company__icontains=term) | Q(location__icontains=term))
    return list(jobs.values_list("job_id", flat=True))


def _list_recent(text: str) -> tuple[Sequence[str], tuple[str, ...]]:
    """By the beginning of an ID, a code, or the words that the pages have for one, among the newest runs."""
    newest = WorkflowRunProjection.objects.order_by("-first_seen_at", "-run_id")
    oldest = newest.values_list("first_seen_at", flat=True)[TEXT_WINDOW : TEXT_WINDOW + 1].first()
    codes = [text, *find_codes(text)]
    matching = newest.filter(Q(workflow_id__startswith=text) | Q(run_id__startswith=text) | Q(error_code__in=codes))
    notes: tuple[str, ...] = ()
    if oldest is not None:
        matching = matching.filter(first_seen_at__gt=oldest)
        notes = (f"IDs and reasons are looked for in the newest {TEXT_WINDOW:,} runs only.",)
    ids = list(matching.values_list("run_id", flat=True)[: MOST_FOUND + 1])
    if len(ids) > MOST_FOUND:
        notes = (*notes, f"Only the newest {MOST_FOUND:,} that match are shown.")
    return ids[:MOST_FOUND], notes
