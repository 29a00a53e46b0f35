"""Names and plain data that workflows, activities and the other apps share. Standard library only.

Names are those of the specification's contracts page; operators and scripts rely on them.
"""

from dataclasses import dataclass
from enum import StrEnum


class StageName(StrEnum):
    DISCOVER = "discover"
    ENRICH = "enrich"
    SCORE = "score"
    TAILOR = "tailor"
    COVER = "cover"
    PDF = "pdf"
    APPLY = "apply"


class StageState(StrEnum):
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    EXHAUSTED = "exhausted"
    NEEDS_VERIFICATION = "needs_verification"
    STALE = "stale"
    CANCELED = "canceled"


class RunStatus(StrEnum):
    STARTING = "starting"
    IN_PROGRESS = "in_progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    TERMINATED = "terminated"
    TIMED_OUT = "timed_out"
    DRY_RUN_COMPLETE = "dry_run_complete"
    CAPTCHA = "captcha"
    LOGIN_ISSUE = "login_issue"
    EXPIRED = "expired"
    MANUAL = "manual"


class StepKind(StrEnum):
    SOURCE_PLANNING = "source_planning"
    SOURCE_FAMILY = "source_family"
    ENRICHMENT_PASS = "enrichment_pass"
    PREPARATION_FANOUT = "preparation_fanout"
    EXISTING_BACKLOG_SWEEP = "existing_backlog_sweep"
    PDF_RENDER = "pdf_render"


class Cohort(StrEnum):
    OBSERVED_THIS_RUN = "observed_this_run"
    EXISTING_BACKLOG = "existing_backlog"


class WorkPlan(StrEnum):
    PENDING = "pending"
    PLANNED = "planned"
    NOT_ELIGIBLE = "not_eligible"
    FAILED = "failed"


class ErrorCode(StrEnum):
    """Types of ``ApplicationError``; the first five never retry."""

    CONFIGURATION = "configuration"
    AUTHENTICATION = "authentication"
    MISSING_INPUT = "missing_input"
    BUDGET_EXCEEDED = "budget_exceeded"
    INTERNAL = "internal"
    TRANSIENT_NETWORK = "transient_network"
    BROWSER_TRANSIENT = "browser_transient"
    LLM_TRANSIENT = "llm_transient"
    SOURCE_UNAVAILABLE = "source_unavailable"
    WORKER_SHUTDOWN = "worker_shutdown"
    DATABASE_UNAVAILABLE = "database_unavailable"


NEVER_RETRIED = (
    ErrorCode.CONFIGURATION,
    ErrorCode.AUTHENTICATION,
    ErrorCode.MISSING_INPUT,
    ErrorCode.BUDGET_EXCEEDED,
    ErrorCode.INTERNAL,
)

#: Why a claim is refused while a stage of the job is being worked on elsewhere.
OWNED_BY_OTHER_RUN = "OWNED_BY_OTHER_RUN"
#: Refusals that say that somebody else has the row: nothing failed, and nothing was done.
LOST_OWNERSHIP = (OWNED_BY_OTHER_RUN, "LEASE_LOST")

#: Workflows whose cancellation also takes what they had put back; of the others only what they hold at that moment.
COHORT_OWNERS = ("DiscoverWorkflow",)

#: The steps of preparation, in the only order in which they run.
PREPARATION_ORDER = (StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF)

#: Every per-job stage and the stage it waits for.
STAGE_AFTER: dict[StageName, StageName | None] = {
    StageName.ENRICH: None,
    StageName.SCORE: StageName.ENRICH,
    StageName.TAILOR: StageName.SCORE,
    StageName.COVER: StageName.TAILOR,
    StageName.PDF: StageName.COVER,
    StageName.APPLY: StageName.COVER,
}

#: Rows made when a job is found. Pdf has none until it is claimed: its counted record is the pipeline step.
ENROLLED_STAGES = (StageName.ENRICH, StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.APPLY)

FANOUT_BATCH = 25
HEARTBEAT_SECONDS = 15
HEARTBEAT_FRESH_SECONDS = 45
LANES = (
    "analysis", "score", "tailor", "cover", "judge", "apply",
    "research", "outreach", "extraction", "role_filter", "import",
)  # fmt: skip


#: The lanes whose work a model can do so far; the built-in engine does every other.
MODEL_LANES = ("analysis", "score")
#: Why a pending row waits although it was taken up: what it needs is used up, or refused, for now.
WAITED_FOR = ("budget", "provider_paused")
#: The stages that may use models.
SPENDING_STAGES = (StageName.SCORE, StageName.TAILOR, StageName.COVER)


@dataclass(frozen=True)
class SpendPreflight:
    """The stages that a run is about, in their order, for the check of the day's limits before its first work.

    ``job_id`` where all of them are of one job, ``job_ids`` where jobs were chosen.
    """

    stages: tuple[str, ...]
    job_id: str = ""
    job_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExecutionRef:
    """The immutable identity of one DiscoverWorkflow execution, read once at its start and carried along."""

    tenant_id: str
    workflow_id: str
    run_id: str


@dataclass(frozen=True)
class StageJobInput:
    """One job, one stage: the input of ``score_job``, ``tailor_job``, ``cover_job`` and ``pdf_job``."""

    job_id: str
    profile_version: int
    workspace_identity: str
    execution_ref: ExecutionRef | None = None


@dataclass(frozen=True)
class StageBatchInput:
    """Several jobs, one stage. Without ``job_ids`` every eligible job, or the execution's, is selected."""

    profile_version: int
    workspace_identity: str
    job_ids: tuple[str, ...] | None = None
    execution_ref: ExecutionRef | None = None
    limit: int = 0


@dataclass(frozen=True)
class StageReport:
    """How one job ended in one stage. ``reused`` = an earlier result was accepted, nothing ran."""

    job_id: str
    stage: str
    state: str
    code: str = ""
    reused: bool = False


@dataclass(frozen=True)
class BatchReport:
    """Counts by ending, and the failures among them, bounded to 25."""

    stage: str
    counts: dict[str, int]
    failures: tuple[StageReport, ...] = ()


@dataclass(frozen=True)
class PreparationInput:
    job_id: str
    idempotency_key: str
    profile_version: int
    workspace_identity: str
    steps: tuple[str, ...] = PREPARATION_ORDER
    tenant_id: str = "local"
    kind: str = "prepare"
    execution_ref: ExecutionRef | None = None


@dataclass(frozen=True)
class PreparationResult:
    """``stopped_at`` names the step that ended the preparation early, with its state and code."""

    job_id: str
    completed: tuple[str, ...]
    stopped_at: str = ""
    state: str = ""
    code: str = ""


@dataclass(frozen=True)
class PipelineInput:
    """A manual run of one stage over chosen jobs, or over every eligible one."""

    stage: str
    profile_version: int
    workspace_identity: str
    job_ids: tuple[str, ...] | None = None
    limit: int = 0
    tenant_id: str = "local"
    execution_ref: ExecutionRef | None = None


@dataclass(frozen=True)
class CanceledSelection:
    """The jobs that a canceled run was to work on."""

    workflow_id: str
    run_id: str
    stage: str
    job_ids: tuple[str, ...]


@dataclass(frozen=True)
class WorkflowStart:
    """What the envelope records when a run begins: bounded ids and counts, never its documents."""

    workflow_id: str
    run_id: str
    workflow_type: str
    summary: dict[str, str]
    previous_run_id: str = ""


@dataclass(frozen=True)
class WorkflowOutcome:
    """The one authoritative end of a run."""

    workflow_id: str
    run_id: str
    workflow_type: str
    status: RunStatus
    error_code: str = ""
    reason_code: str = ""
    next_run_id: str = ""
    result: dict[str, str] | None = None


@dataclass(frozen=True)
class RecordedEnd:
    """The end that the log has of a run: the first that was recorded, whatever was asked for since."""

    status: str
    error_code: str = ""
