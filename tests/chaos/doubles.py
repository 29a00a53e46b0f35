"""What the log may say only once: of a job, of a run, of a step, of one attempt."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.worker.workspace import TERMINALS, Workspace

Payload = dict[str, Any]
#: (event types that exclude each other, the fields of their payloads under which there is one).
ONCE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("JobDiscovered",), ("jobId",)),
    (("JobSourceObserved",), ("jobId", "sourceId", "runId")),
    (("PostingContentSnapshotCaptured",), ("jobId",)),
    (("JobEnriched",), ("jobId",)),
    (("EmployerAnalyzed",), ("jobId",)),
    (("JobScored",), ("jobId",)),
    (("ResumeApproved",), ("jobId",)),
    (("BulletProvenanceRecorded",), ("jobId",)),
    (("CoverLetterGenerated",), ("jobId",)),
    (("PdfRendered",), ("jobId",)),
    (("StageCompleted",), ("jobId", "stage")),
    (("ContentDuplicateCandidateDetected",), ("jobId", "otherJobId")),
    (("SourceRegistryEntryCreated",), ("sourceId",)),
    (("ProfileImported",), ("version",)),
    (("WorkflowStarted",), ("runId", "phase")),
    (("WorkflowCancellationRequested",), ("runId", "evidence")),
    (("PipelineStepQueued",), ("runId", "kind", "itemKey", "attempt")),
    (("PipelineStepStarted",), ("runId", "kind", "itemKey", "attempt")),
    (("PipelineStepCompleted", "PipelineStepFailed"), ("runId", "kind", "itemKey", "attempt")),
    (("DiscoveryRunStarted",), ("runId",)),
    (("DiscoveryRunCompleted", "DiscoveryRunFailed"), ("runId",)),
    (TERMINALS, ("runId",)),
)
#: One claim of a stage begins once and ends once; a person's reset lets its attempts begin anew.
CLAIM_BEGINS = ("StageStarted",)
CLAIM_ENDS = ("StageCompleted", "StageFailed", "StageExhausted")


def find_doubles(workspace: Workspace) -> list[str]:
    events = workspace.list_events()
    faults = [fault for types, fields in ONCE for fault in count_twice(events, types, fields)]
    faults += [fault for types in (CLAIM_BEGINS, CLAIM_ENDS) for fault in count_claims(events, types)]
    doubled = workspace.query(
        "SELECT count(*) FROM (SELECT job_id, kind FROM artifacts GROUP BY job_id, kind HAVING count(*) > 1) twice"
    )[0][0]
    return [*faults, *([f"{doubled} artifacts are registered twice"] if doubled else [])]


def count_twice(events: Iterable[tuple[str, Payload]], types: tuple[str, ...], fields: tuple[str, ...]) -> list[str]:
    seen = Counter(
        tuple(str(payload.get(field)) for field in fields)
        for kind, payload in events
        if kind in types and not payload.get("provisional") and not payload.get("recovered")
    )
    twice = [key for key, count in seen.items() if count > 1]
    return [f"{' or '.join(types)} more than once for {len(twice)} of {'+'.join(fields)}: {twice[0]}"] if twice else []


def count_claims(events: Iterable[tuple[str, Payload]], types: tuple[str, ...]) -> list[str]:
    seen: set[tuple[str, str, int]] = set()
    twice: set[tuple[str, str, int]] = set()
    for kind, payload in events:
        if kind == "StageReset" and payload["attempts"] == 0:
            seen = {key for key in seen if key[:2] != (payload["jobId"], payload["stage"])}
        elif kind in types:
            key = payload["jobId"], payload["stage"], int(payload["attempt"])
            twice |= {key} & seen
            seen.add(key)
    return [f"{' or '.join(types)} twice for {len(twice)} claims: {min(twice)}"] if twice else []
