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
