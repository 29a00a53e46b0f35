"""Tables of the engine. Each class says whether it is canonical, a projection or runtime."""

from operations.models.access import ApiToken, SavedView, SignInLink, SignInThrottle, StartReceipt
from operations.models.base import TenantModel
from operations.models.executions import DiscoveryExecutionJob
from operations.models.log import JobEventRow, ProjectionWatermark
from operations.models.projections import (
    JobDetailProjection,
    JobListProjection,
    PipelineStepProjection,
    WorkflowRunProjection,
)
from operations.models.runtime import (
    OperationalAttemptMetric,
    PendingActivity,
    StoredSetting,
    WorkerRuntimeHeartbeat,
    Workspace,
)
from operations.models.spend import LlmAttempt, LlmSpend, ProviderBreaker
from operations.models.stages import JobStageState, StageCounter
from operations.models.starts import FrozenStart

__all__ = [
    "ApiToken",
    "DiscoveryExecutionJob",
    "FrozenStart",
    "JobDetailProjection",
    "JobEventRow",
    "JobListProjection",
    "JobStageState",
    "LlmAttempt",
    "LlmSpend",
    "OperationalAttemptMetric",
    "PendingActivity",
    "PipelineStepProjection",
    "ProjectionWatermark",
    "ProviderBreaker",
    "SavedView",
    "SignInLink",
    "SignInThrottle",
    "StageCounter",
    "StartReceipt",
    "StoredSetting",
    "TenantModel",
    "WorkerRuntimeHeartbeat",
    "WorkflowRunProjection",
    "Workspace",
]
