from django.contrib import admin

from operations.admin.tables import TableAdmin
from operations.models import PendingActivity, StoredSetting, WorkerRuntimeHeartbeat, Workspace


@admin.register(WorkerRuntimeHeartbeat)
class HeartbeatAdmin(TableAdmin):
    group, place = "Runtime", 10
    keys = ("last_seen_at",)
    list_display = ("worker_id", "slots_busy", "slots", "process_id", "started_at", "last_seen_at", "stopped_at")


@admin.register(PendingActivity)
class PendingActivityAdmin(TableAdmin):
    """What open runs had not finished when Temporal was last asked."""

    group, place = "Runtime", 15
    list_display = ("run_id", "activity_type", "attempt", "maximum_attempts", "state", "error_code", "observed_at")


@admin.register(StoredSetting)
class StoredSettingAdmin(TableAdmin):
    """Only what was changed; the settings page has every key with its default."""

    group, place = "Runtime", 20
    keys = ("key",)
    list_display = ("key", "updated_at")


@admin.register(Workspace)
class WorkspaceAdmin(TableAdmin):
    group, place = "Runtime", 30
    keys = ("identity",)
    list_display = ("task_queue", "home", "created_at")
