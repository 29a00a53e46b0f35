"""The job list over the API, with each filter and text search, and the dashboard: the web process's own time a request."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.test import Client
from django.utils import timezone

from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times

REPEATS = 40
FIRST_PAGE = "/v1/jobs"
FILTERS = (
    "sort=newest", "minScore=7", "minScore=4&maxScore=5&sort=newest", "source=greenhouse:board-7", "active=closed",
    "documents=yes", "documents=no&sort=newest", "maxAgeDays=7", "stage=score", "stage=score&state=pending",
    "stage=score&state=failed", "stage=tailor&state=skipped", "needs=me", "view=hidden", "view=deleted",
    "place=berlin", "place=remote", "place=remote&sort=newest", "place=engineer", "state=failed", "state=skipped",
)  # fmt: skip
SEARCHES = ("q=engineer", "q=senior+data", "q=company+77", "q=qa", "q=berlin&minScore=7", "q=nobody+at+all")
OTHERS = ("/v1/workflow-runs", "/v1/workflow-runs?status=ended_badly", "/v1/events", "/v1/events?type=JobScored")
PAGES = ("/", "/jobs/", "/runs/", "/activity/")


def measure(jobs: int) -> Iterator[Figure]:
    client = sign_in()
    yield at_most("GET jobs, first page, p95", time_request(client, FIRST_PAGE), "ms", 30)
    cursor = client.get(FIRST_PAGE).json()["nextCursor"]
    yield at_most("GET jobs, second page, p95", time_request(client, f"{FIRST_PAGE}?cursor={cursor}"), "ms", 30)
    yield find_slowest("GET jobs, slowest filter, p95", client, [f"{FIRST_PAGE}?{query}" for query in FILTERS])
    yield find_slowest("GET jobs, slowest text search, p95", client, [f"{FIRST_PAGE}?{query}" for query in SEARCHES])
    yield find_slowest("GET workflow-runs and events, slowest, p95", client, OTHERS)
    yield at_most("dashboard page, p95", time_request(client, PAGES[0]), "ms", 60)
    yield find_slowest("list pages, slowest, p95", client, PAGES[1:])


def find_slowest(name: str, client: Client, paths: Any) -> Figure:
    times = {path: time_request(client, path) for path in paths}
    slowest = max(times, key=lambda path: times[path])
    return at_most(name, times[slowest], "ms", 60, note=slowest)


def time_request(client: Client, path: str) -> float:
    """Milliseconds through every middleware, p95; raises where the answer is not 200."""

    def ask() -> None:
        answer = client.get(path)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")

    return compute_percentile(measure_times(ask, repeats=REPEATS), 95)


def sign_in() -> Client:
    from operations.access.accounts import ensure_operator
    from operations.access.tokens import create_token

    settings.ALLOWED_HOSTS.append("testserver")
    _, token = create_token(ensure_operator(), label="benchmark", now=timezone.now())
    return Client(headers={"Authorization": f"Bearer {token}"})
