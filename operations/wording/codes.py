"""Bounded codes in words: what happened, and what a person can do about it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reason:
    """``short`` fits a chip after a colon, in lower case; ``remedy`` is a sentence, "" where nothing is to be done."""

    short: str
    remedy: str = ""


_OPEN_POSTING: Final = "Open the posting yourself to see whether it is still there."
_WAIT: Final = "It is tried again by itself."

_REASONS: Final[dict[str, Reason]] = {
    # types of failure that runs carry
    "configuration": Reason("something is not set up", "Run the doctor command; it names what is missing."),
    "authentication": Reason("the other side refused us", "Check the key or the sign-in it needs, then try again."),
    "missing_input": Reason("something it needs does not exist", "Import a profile and add a source, then try again."),
    "LLM_ANSWER_UNUSABLE": Reason(
        "the model's answer could not be used", "It is tried again; another model may do better."
    ),
    "provider_paused": Reason(
        "waits for the model provider", "It refuses this account: look at its key and its credit. It is asked again."
    ),
    "budget": Reason("waits for the budget", "It resets at 00:00 UTC, or raise the limit in Settings."),
    "budget_exceeded": Reason("waits for the budget", "It resets at 00:00 UTC, or raise the limit in Settings."),
    "internal": Reason("an unexpected error", "Try again; if it repeats, the technical details name the cause."),
    "database_unavailable": Reason("the database could not be used", "Run the doctor command; it says why."),
    "transient_network": Reason("the connection failed", _WAIT),
    "browser_transient": Reason("the browser stopped", _WAIT),
    "llm_transient": Reason("the model did not answer", _WAIT),
    "source_unavailable": Reason("the site cannot answer now", _WAIT),
    "worker_shutdown": Reason("the worker stopped", "It goes on when a worker runs again."),
    "activity_timeout": Reason("a step took too long", "Try again."),
    "worker_runtime_unavailable": Reason(
        "no worker is running, or Temporal cannot be reached", "Start everything with the up command, then ask again."
    ),
    "reconciled_not_found": Reason("Temporal no longer knows this run", "Start it again if its work is missing."),
    "active_work": Reason("work on it is still going on", "Wait for it, or stop it and reset."),
    "not_cancelable": Reason("it has already ended"),
    "not_eligible": Reason("it does not fit its present state", "Reload the page to see where it stands."),
    "not_found": Reason("it does not exist", "Go back to the list."),
    "invalid_setting": Reason("a value was refused", "Correct the field that is marked."),
    "bad_stage": Reason("there is no such stage", "Choose one of the stages offered."),
    "cancel_requested": Reason("you canceled it"),
    "workflow_canceled": Reason("its run was canceled", "Run this step again when you want it."),
    "continued_as_new": Reason("goes on in a new run"),
    # why a stage does not run
    "ATTEMPTS_EXHAUSTED": Reason("every attempt was used up", "Retry it once the cause is mended; that begins afresh."),
    "MIN_SCORE": Reason("below your threshold", "Lower the threshold in Settings to prepare it."),
    "JOB_DELETED": Reason("you deleted this job", "Restore it to go on."),
    "JOB_NOT_FOUND": Reason("this job does not exist", "Go back to the list."),
    "POSTING_CHANGED": Reason("the posting has changed", "The next discovery run reads and scores it again."),
    "POSTING_CLOSED": Reason("the posting is closed"),
    "LOW_CONFIDENCE": Reason("the posting could not be read with confidence", _OPEN_POSTING),
    "OWNED_BY_OTHER_RUN": Reason("another run is working on it"),
    "LEASE_LOST": Reason("another attempt took over"),
    "RUN_ENDED": Reason("its run had ended already"),
    "CANCELED": Reason("its run was canceled", "Run this step again when you want it."),
    "OWNER_LOST": Reason("the run that worked on it cannot be found", "Run this step again."),
    "STILL_ENDING": Reason("its run was asked to stop and has not ended yet", "Try again in a moment."),
    "NOT_HELD": Reason("no run holds it", "Reload the page to see where it stands."),
    "RUN_OPEN": Reason("its run is still at work", "Cancel that run, or wait until it has ended."),
    "ALREADY_PENDING": Reason("it waits already, so there is nothing to reset", "Run the step."),
    "NO_SUCH_ROW": Reason("it has no such step yet", "Run the step before it first."),
    "OWNER_ENDED": Reason("its run ended before it was finished", "Try again."),
    "WORKER_LOST": Reason("the worker stopped before it was finished", _WAIT),
    "RESULT_KEPT": Reason("accepted before its run was canceled"),
    "DONE": Reason("already done"),
    # reading a posting
    "NO_CONTENT": Reason("the posting has no readable text", _OPEN_POSTING),
    "FETCH_FAILED": Reason("the page could not be fetched", _OPEN_POSTING),
    "DETAIL_UNSAFE_URL": Reason("its address is not a public web address", "Check the source that listed it."),
    "SOURCE_UNAVAILABLE": Reason("the site cannot answer now", _WAIT),
    "RATE_LIMITED": Reason("the site asks us to slow down", _WAIT),
    "NOT_FOUND": Reason("the page is gone", _OPEN_POSTING),
    "ACCESS_DENIED": Reason("the site refuses us this page", _OPEN_POSTING),
    "BODY_TOO_LARGE": Reason("the page is too large to read", _OPEN_POSTING),
    "NETWORK_FAILURE": Reason("the connection failed", _WAIT),
    "CONNECTION_LOST": Reason("the connection broke off", _WAIT),
    "CONNECT_FAILED": Reason("the site cannot be reached", _WAIT),
    "DNS_FAILED": Reason("the site's name cannot be found", "Check the address and your connection."),
    "TLS_FAILED": Reason("the site's certificate is not valid", _OPEN_POSTING),
    "TIMED_OUT": Reason("the site took too long to answer", _WAIT),
    "TOO_MANY_REDIRECTS": Reason("the site sends us in circles", _OPEN_POSTING),
    "UNEXPECTED_STATUS": Reason("the site answered unexpectedly", _OPEN_POSTING),
    "BAD_CONTENT": Reason("the answer cannot be read", _OPEN_POSTING),
    "UNSUPPORTED_ENCODING": Reason("the answer cannot be read", _OPEN_POSTING),
    "DAMAGED_ENCODING": Reason("the answer is damaged", _WAIT),
    "NOT_A_PAGE": Reason("its address leads to no web page", _OPEN_POSTING),
    "HTML_INSTEAD_OF_JSON": Reason("the board answered with a web page", _WAIT),
    "INVALID_JSON": Reason("the board's answer is damaged", "Try again later; the board may have changed."),
    "TRUNCATED_JSON": Reason("the board's answer broke off", _WAIT),
    "JSON_TOO_DEEP": Reason("the board's answer cannot be read", "The board may have changed."),
    "EMPTY_BODY": Reason("the board's answer was empty", _WAIT),
    # scoring and writing
    "POSTING_EMPTY": Reason("the posting is empty", _OPEN_POSTING),
    "ANALYSIS_EMPTY": Reason("the posting asks for nothing a resume could show", _OPEN_POSTING),
    "REPORT_INVALID": Reason("the assessment does not hold against the posting", "Score it again."),
    "NOT_GROUNDED": Reason("a claim without evidence", "Add the evidence to your profile, then try again."),
    # printing
    "BROWSER_GONE": Reason("the browser stopped while printing", _WAIT),
    "TIMEOUT": Reason("printing took too long", _WAIT),
    "CHROMIUM_MISSING": Reason("Chromium is not installed", "Install it, or set CHROMIUM_PATH."),
    "FONT_MISSING": Reason("a font is missing", "Install fonts-noto-core and fonts-noto-cjk, then try again."),
    "TOO_LONG": Reason("the document is too long", "Shorten the profile's longest entries, then try again."),
    "TEXT_LAYER": Reason("the printed text cannot be read back", "Try again; the technical details name the cause."),
    "ARTIFACT_WRITE_FAILED": Reason("the file could not be saved", "Check the free space on this computer."),
    "INTERNAL_ERROR": Reason("an unexpected error", "Try again; if it repeats, the technical details name the cause."),
}

_UPSTREAM: Final = {
    "UPSTREAM_FAILED": "an earlier step failed",
    "UPSTREAM_EXHAUSTED": "an earlier step failed too often",
    "UPSTREAM_BLOCKED": "an earlier step is held up",
    "UPSTREAM_CANCELED": "an earlier step was canceled",
    "UPSTREAM_NEEDS_VERIFICATION": "an earlier step waits for your check",
    "UPSTREAM_PENDING": "an earlier step is not done",
}


def describe_code(code: str) -> Reason | None:
    """What a code means; ``None`` for "" and for one that has no words, which belongs under Technical details."""
    if code in _UPSTREAM:
        return Reason(_UPSTREAM[code])
    if code.startswith("WAITS_FOR_"):
        return Reason("an earlier step is not done")
    return _REASONS.get(code)


def passes_by_itself(code: str) -> bool:
    """Whether its remedy is to wait for the next attempt, which only holds while there is one to come."""
    reason = describe_code(code)
    return reason is not None and reason.remedy == _WAIT


def find_codes(words: str) -> list[str]:
    """The codes whose reason holds these words, as a person read them on a page."""
    wanted = " ".join(words.lower().split())
    return [code for code, reason in _REASONS.items() if wanted and wanted in reason.short.lower()]
