"""How a board failed, in words."""

from typing import Final

from operations.wording import Reason, Tone, Wording, describe_code

#: A board's failures, where what helps is another thing than for a single posting.
BOARD_REASONS: Final = {
    "NOT_FOUND": Reason("there is no such board", "Open its address in a browser and compare the token."),
    "ACCESS_DENIED": Reason("the site refuses us this board", "Open it in a browser; it may have been closed."),
    "MALFORMED_BOARD": Reason("its answer has an unexpected shape", "The board may have changed; try again later."),
    "UNEXPECTED_STATUS": Reason("the site answered unexpectedly", "Try again later."),
    "BAD_CONTENT": Reason("the answer cannot be read", "The board may have changed; try again later."),
    "TLS_FAILED": Reason("the site's certificate is not valid", "Open it in a browser to see what is wrong."),
    "INTERNAL_ERROR": Reason("our own reader broke off on its answer", "The worker's log says where."),
    "BODY_TOO_LARGE": Reason("the board is too large to read"),
}
#: The next run reads such a board again; nobody needs to do anything.
PASSES_BY_ITSELF: Final = (
    *("SOURCE_UNAVAILABLE", "RATE_LIMITED", "TIMED_OUT", "NETWORK_FAILURE", "CONNECTION_LOST", "CONNECT_FAILED"),
    *("DAMAGED_ENCODING", "HTML_INSTEAD_OF_JSON", "TRUNCATED_JSON", "EMPTY_BODY"),
)


def describe_failure(code: str) -> Wording:
    reason = BOARD_REASONS.get(code) or describe_code(code) or Reason("an unexpected error", "Try again.")
    tone = Tone.WAITING if code in PASSES_BY_ITSELF else Tone.PERSON
    return Wording(f"Failed: {reason.short}", tone, reason.remedy)
