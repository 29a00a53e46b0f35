from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from operations.eventlog.registry import Payload, raise_to_current
from operations.models.base import TenantModel


class JobEventRow(TenantModel):
    """Canonical. The append-only event log; guards in the database refuse UPDATE and DELETE.

    Written by ``operations.eventlog.append`` only. ``typed=False`` rows are audit markers.
    """

    event_type = models.CharField(max_length=60)
    version = models.PositiveSmallIntegerField(default=1)
    typed = models.BooleanField(default=True)
    job_id = models.UUIDField(null=True)
    workflow_id = models.CharField(max_length=200, default="", blank=True)
    run_id = models.CharField(max_length=80, default="", blank=True)
    event_key = models.CharField(max_length=250, null=True)  # noqa: DJ001 - NULL means "not keyed" and is not unique
    payload = models.JSONField(encoder=DjangoJSONEncoder)
    recorded_at = models.DateTimeField()

    class Meta:
        db_table = "job_events"
        verbose_name = "event"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "event_key"],
                condition=Q(event_key__isnull=False),
                name="one_event_per_exact_key",
            )
        ]
        indexes = [
            models.Index(fields=["job_id", "id"], condition=Q(job_id__isnull=False), name="events_of_a_job"),
            models.Index(fields=["run_id", "id"], condition=~Q(run_id=""), name="events_of_a_run"),
            models.Index(fields=["workflow_id", "id"], condition=~Q(workflow_id=""), name="events_of_a_workflow"),
            models.Index(fields=["event_type", "id"], name="events_of_a_type"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} #{self.pk}"

    def read_payload(self) -> Payload:
        """At the newest version of its type, as folds and the stream see it; ``payload`` is what was stored."""
        return raise_to_current(self.event_type, self.version, self.payload)


class ProjectionWatermark(models.Model):
    """Runtime. How far one app's folds have come, and whether they are live.

    A flagged app (``failing``, ``rebuilding``) is skipped by live folding and catches up from here.
    """

    app = models.CharField(max_length=40, primary_key=True)
    last_event_id = models.BigIntegerField(default=0)
    state = models.CharField(max_length=20, default="new")
    error_code = models.CharField(max_length=80, default="", blank=True)
    failed_event_id = models.BigIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "projection_watermarks"

    def __str__(self) -> str:
        return f"{self.app}: {self.state} at {self.last_event_id}"
