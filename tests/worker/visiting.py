"""Everything that the web process of a workspace answers to somebody who has signed in: its pages and its API."""

import re
import time

import httpx

from tests.browser.places import list_places
from tests.webserver import Web
from tests.worker.workspace import Workspace

STREAM = "/v1/events/stream"
DOCUMENT = "/v1/artifacts/{artifactId}/content"  # a PDF of the profile's own words
ESTIMATE = "/v1/pipeline/actions/run-stage/estimate"
PARTS = ("/topbar/", "/palette/?q=backend", "/spend/?fragment=body", "/settings/?fragment=groups")
STREAM_SECONDS = 30.0
EXPORTS = ("/v1/jobs", "/v1/events", "/v1/spend")
_ADMIN_TABLE = re.compile(r'href="(/admin/\w+/\w+/)"')
_ADMIN_ROW = re.compile(r'href="(/admin/\w+/\w+/[^"/?]+/change/)"')


def visit_pages(web: Web, workspace: Workspace, *, title: str) -> dict[str, str]:
    """The pages by their address, with one row of each table in the admin. ``title``: of the job that is looked at."""
    places = list(list_places(workspace, title=title, other_type="JobPipelineWorkflow").values())
    visitor = web.operator()
    found = {path: read(visitor, path) for path in (*places, *PARTS)}
    front = read(visitor, "/admin/")
    tables = {path: read(visitor, path) for path in set(_ADMIN_TABLE.findall(front))}
    rows = {path: read(visitor, path) for page in tables.values() for path in _ADMIN_ROW.findall(page)[:1]}
    assert len(tables) > 20 and len(rows) > 10
    return {**found, "/admin/": front, **tables, **rows}


def read_api(web: Web, workspace: Workspace, *, title: str) -> dict[str, str]:
    """What every GET of the API's own description answers, of that job and a run, and the exports."""
    ((run_id,),) = workspace.query("SELECT min(run_id) FROM workflow_run_projections")
    script = web.script()
    described = script.get("/v1/schema/").json()["paths"]
    named = [path for path, operations in described.items() if "get" in operations and path != STREAM]
    paths = [path.replace("{jobId}", workspace.find_job(title)).replace("{runId}", run_id) for path in named]
    assert [path for path in paths if "{" in path] == [DOCUMENT]
    paths = [f"{path}?stage=score" if path == ESTIMATE else path for path in paths if path != DOCUMENT]
    found = {path: read(script, path) for path in (*paths, *(f"{path}?format=csv" for path in EXPORTS))}
    return {**found, STREAM: read_stream(script, workspace)}


def read_stream(script: httpx.Client, workspace: Workspace) -> str:
    """Every event so far, as the stream tells them to whoever has none yet; it leaves out markers."""
    ((last,),) = workspace.query("SELECT max(id) FROM job_events WHERE typed")
    lines: list[str] = []
    deadline = time.monotonic() + STREAM_SECONDS
    with script.stream("GET", STREAM, headers={"Last-Event-ID": "0"}) as answer:
        for line in answer.iter_lines():
            lines.append(line)
            assert time.monotonic() < deadline, f"{len(lines)} lines, and not yet event {last}"
            if line == f"id: {last}":
                break
    return "\n".join(lines)


def read(visitor: httpx.Client, path: str) -> str:
    answer = visitor.get(path, follow_redirects=True)
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
    return answer.text


def find_words(places: dict[str, str], words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Where which word stands, in capitals or not."""
    return [(place, word) for place, text in places.items() for word in words if word.casefold() in text.casefold()]
