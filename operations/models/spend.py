from django.db import models

from operations.models.base import TenantModel


class LlmSpend(TenantModel):
    """Canonical. What one lane used on one UTC day; global totals are sums over lanes.

    Cached input and reasoning output are parts of the totals beside them, never added again.
    """

    day = models.DateField()
    lane = models.CharField(max_length=20)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cached_input_tokens = models.BigIntegerField(default=0)
    reasoning_output_tokens = models.BigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "llm_spend"
        verbose_name = "model spend"
        constraints = [models.UniqueConstraint(fields=["tenant_id", "day", "lane"], name="one_ledger_row_per_lane")]

    def __str__(self) -> str:
        return f"{self.lane} on {self.day}: ${self.cost_usd}"


class LlmAttempt(TenantModel):
    """Canonical. One request to a provider, committed before it left; what it used is filled in from the raw answer.

    ``state`` is ``open`` until an answer was read, then ``counted`` or ``unknown`` (no usage in it, or no answer). An
    open row whose activity attempt has ended stays "usage unknown". ``day`` is the ledger's day that it counts on, and
    null for as long as its use is not known. An unknown one with a day was counted for the part that a broken stream
    told.
    """

    observation_key = models.UUIDField(primary_key=True)
    lane = models.CharField(max_length=20)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=120)
    workflow_id = models.CharField(max_length=200, default="", blank=True)
    run_id = models.CharField(max_length=80, default="", blank=True)
    activity_attempt = models.PositiveSmallIntegerField(default=1)
    job_id = models.UUIDField(null=True)
    stage = models.CharField(max_length=20, default="", blank=True)
    state = models.CharField(max_length=10, default="open")
    http_status = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=60, default="", blank=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    cached_input_tokens = models.PositiveBigIntegerField(null=True)
    reasoning_output_tokens = models.PositiveBigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    priced_by = models.CharField(max_length=12, default="", blank=True)
    day = models.DateField(null=True)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "llm_attempts"
        verbose_name = "model attempt"
        indexes = [
            models.Index(fields=["run_id", "opened_at", "observation_key"], name="attempts_of_a_run"),
            models.Index(fields=["job_id", "opened_at", "observation_key"], name="attempts_of_a_job"),
            models.Index(fields=["day", "opened_at", "observation_key"], name="attempts_of_a_day"),
            models.Index(fields=["opened_at", "observation_key"], name="attempts_by_age"),
            # Every page counts those of today: they are few beside the counted ones.
            models.Index(
                fields=["opened_at", "observation_key", "lane", "state"],
                condition=~models.Q(state="counted"),
                name="attempts_not_counted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lane} at {self.provider}: {self.state}"


class ProviderBreaker(models.Model):
    """Runtime. A provider that refuses the account: its lanes wait, and one probe at a time asks again."""

    provider = models.CharField(max_length=20, primary_key=True)
    reason_code = models.CharField(max_length=40)
    http_status = models.PositiveSmallIntegerField(null=True)
    opened_at = models.DateTimeField()
    probes = models.PositiveIntegerField(default=0)
    next_probe_at = models.DateTimeField()

    class Meta:
        db_table = "llm_provider_breakers"
        verbose_name = "paused provider"

    def __str__(self) -> str:
        return f"{self.provider}: {self.reason_code}"
