from django.db import models


class FrozenStart(models.Model):
    """Canonical. A run that was promised together with a change of rows; gone once Temporal has accepted it.

    Until then it is started again under the very same workflow ID, which Temporal accepts once.
    """

    workflow_id = models.CharField(max_length=200, primary_key=True)
    workflow_type = models.CharField(max_length=80)
    argument = models.JSONField()
    summary = models.JSONField()
    receipt_hash = models.CharField(max_length=64, default="", blank=True)  # the receipt that waits for the run's ID
    created_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "frozen_starts"
        indexes = [models.Index(fields=["tries", "created_at"], name="frozen_starts_by_turn")]

    def __str__(self) -> str:
        return self.workflow_id
