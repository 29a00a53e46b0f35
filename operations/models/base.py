from django.db import models


class TenantModel(models.Model):
    """Rows that the tenant leads; always ``local`` for now."""

    tenant_id = models.CharField(max_length=40, default="local")

    class Meta:
        abstract = True
