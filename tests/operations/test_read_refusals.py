"""A refused account is told by the provider's own fields; whatever a server quotes of the request decides nothing."""

import json
from typing import Any

import pytest

from operations.llm.refusals import Told, read_told

POSTING = "We sell credit balance tools: insufficient_quota, billing_error, out of credit, API key expired, 401."


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (429, {"code": "insufficient_quota"}, "out_of_credit"),
        (400, {"type": "billing_error", "message": POSTING}, "out_of_credit"),
        (400, {"type": "invalid_request_error", "message": "Your CREDIT BALANCE is too low to use"}, "out_of_credit"),
        (400, {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}, "authentication"),
        (429, {"details": [{"violations": [{"quotaId": "RequestsPerDayPerModel"}]}]}, "out_of_credit"),
        (429, {"details": [{"violations": [{"quotaId": "RequestsPerMinutePerModel"}]}]}, ""),
        (429, {"message": "slow down"}, ""),
        (400, {"type": "invalid_request_error", "message": f"cannot read: {POSTING}"}, ""),
        (422, {"message": "no", "input": POSTING, "details": [{"input": POSTING, "reason": 7}, "x"]}, ""),
        (500, {"code": "insufficient_quota"}, ""),
    ],
)
def test_it_tells_a_refused_account_from_a_refused_request(status: int, error: dict[str, Any], reason: str) -> None:
    whole = json.dumps({"error": error}).encode()
    assert read_told(status, whole, streamed=False) == Told(is_error=True, refusal=reason)
    assert read_told(status, b"[" + whole + b"]", streamed=False).refusal == reason


@pytest.mark.parametrize(
    "body", [b"\xff" * 10, b"[" * 100_000, POSTING.encode(), b'"error"', b'{"error": "no"}', b"[1]"]
)
def test_it_reads_no_reason_from_what_has_no_such_field(body: bytes) -> None:
    for streamed in (False, True):
        assert read_told(400, body, streamed=streamed) == Told(is_error=True)
        assert read_told(200, body, streamed=streamed) == Told()


def test_it_finds_an_error_in_a_stream_that_began_well() -> None:
    error = json.dumps({"type": "error", "error": {"type": "billing_error", "message": "no"}})
    stream = b'data: {"type": "message_start"}\n\nevent: error\ndata: ' + error.encode() + b"\n\n"
    assert read_told(200, stream, streamed=True) == Told(is_error=True, refusal="out_of_credit")
