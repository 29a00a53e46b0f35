"""Greenhouse-shaped boards for the loopback server: an invented cast of backend postings."""

import html
from typing import Any

from tests.boardserver import BoardServer, Reply, reply_json
from tests.worker.workspace import Workspace

REQUIREMENTS = (
    "5+ years of professional experience with Python and Django",
    "Strong knowledge of PostgreSQL and query tuning",
    "Experience with Kubernetes, Docker and Terraform on AWS",
    "Experience building REST APIs and event pipelines with Kafka",
)


def describe_posting(*, note: str = "") -> str:
    """HTML of a posting that the sample candidate fits well; ``note`` goes into its text."""
    items = "".join(f"<li>{line}</li>" for line in REQUIREMENTS)
    about = f"<p>We move parcels through Europe and write the software for it ourselves. {note}</p>"
    return f"{about}<h3>Requirements</h3><ul>{items}</ul><p>You will own two services, from design to on-call.</p>"


def build_posting(number: int, *, title: str, url: str, content: str | None = None) -> dict[str, Any]:
    """``content`` "" makes a posting whose page must be read."""
    text = describe_posting(note=f"Opening {number}.") if content is None else content
    return {
        "id": number,
        "title": title,
        "absolute_url": url,
        "company_name": "Parcelwise",
        "location": {"name": "Berlin, Germany"},
        "first_published": "2026-09-01T09:00:00Z",
        "updated_at": "2026-09-02T09:00:00Z",
        "content": html.escape(text),
    }


def build_postings(boards: BoardServer, first: int, count: int, **settings: Any) -> list[dict[str, Any]]:
    return [
        build_posting(number, title=f"Backend Engineer {number}", url=f"{boards.url}/jobs/{number}", **settings)
        for number in range(first, first + count)
    ]


def list_path(board: str) -> str:
    return f"/v1/boards/{board}/jobs"


def serve_board(boards: BoardServer, board: str, *replies: Reply | list[dict[str, Any]]) -> None:
    """What the board answers in turn: postings, or a reply as it is."""
    boards.set_route(
        list_path(board), *(reply if isinstance(reply, Reply) else reply_json({"jobs": reply}) for reply in replies)
    )


def add_boards(workspace: Workspace, boards: BoardServer, *names: str) -> None:
    """Register Greenhouse boards served from loopback, in one process."""
    workspace.run_python(
        "from discovery.services.sources import register_source\n"
        f"for board in {names!r}:\n"
        f"    register_source('greenhouse', board, base_url={boards.url!r})"
    )


def build_page(*, title: str, content: str | None = None) -> bytes:
    """A posting's page as a reader's extractor likes it."""
    body = describe_posting() if content is None else content
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>".encode()
