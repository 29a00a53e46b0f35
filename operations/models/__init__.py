"""Tables of the engine. Each class says whether it is canonical, a projection or runtime."""

from operations.models.base import TenantModel
from operations.models.executions import DiscoveryExecutionJob
from operations.models.log import JobEventRow, ProjectionWatermark
from operations.models.projections import (
    JobDetailProjection,
    JobListProjection,
    PipelineStepProjection,
    WorkflowRunProjection,
)
from operations.models.runtime import OperationalAttemptMetric, StoredSetting, WorkerRuntimeHeartbeat, Workspace
from operations.models.stages import JobStageState

__all__ = [
    "DiscoveryExecutionJob",
    "JobDetailProjection",
    "JobEventRow",
    "JobListProjection",
    "JobStageState",
    "OperationalAttemptMetric",
    "PipelineStepProjection",
    "ProjectionWatermark",
    "StoredSetting",
    "TenantModel",
    "WorkerRuntimeHeartbeat",
    "WorkflowRunProjection",
    "Workspace",
]
