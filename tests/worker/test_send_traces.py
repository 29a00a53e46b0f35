"""With OTEL_EXPORTER_OTLP_ENDPOINT set, a worker sends the spans of a run to a collector, by names and ids."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from operations.worker.telemetry import TRACING_PACKAGES, has_tracing_packages
from tests.boardserver import BoardServer
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import Workspace

pytestmark = [
    pytest.mark.worker,
    pytest.mark.sqlite_alone,
    pytest.mark.skipif(not has_tracing_packages(), reason=f"not installed: {' and '.join(TRACING_PACKAGES)}"),
]


@contextmanager
def running_collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Its address, and the (path, body) that it was sent."""
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()


def read_spans(bodies: list[tuple[str, bytes]]) -> dict[str, dict[str, str]]:
    """Name of each span -> its attributes."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans = {}
    for path, body in bodies:
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    spans[span.name] = {entry.key: entry.value.string_value for entry in span.attributes}
    return spans


def test_a_worker_sends_the_spans_of_a_run_and_no_content(workspace: Workspace, boards: BoardServer) -> None:
    serve_board(boards, "parcels", build_postings(boards, 1, 2))
    add_boards(workspace, boards, "parcels")
    with running_collector() as (address, received):
        workspace.environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_BSP_SCHEDULE_DELAY": "200"}
        workspace.start_worker()
        run_id = workspace.start_discovery()
        assert workspace.wait_for_run(run_id) == "succeeded"
        workspace.wait_until(
            lambda: {"RunWorkflow:DiscoverWorkflow", "RunActivity:enrich_jobs"} <= read_spans(received).keys(),
            what="the spans of the run and of an activity",
            seconds=20,
        )
        spans = read_spans(received)
    assert spans["RunActivity:enrich_jobs"]["temporalWorkflowID"] == "discover-local"
    assert spans["RunActivity:enrich_jobs"]["temporalRunID"] == run_id
    assert not any(b"parcels through Europe" in body or b"Backend Engineer" in body for _, body in received)
