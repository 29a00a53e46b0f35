from django.contrib.admin.apps import AdminConfig


class OperatorAdminConfig(AdminConfig):
    """Django's admin, with our site as ``admin.site``."""

    default_site = "operations.admin_site.OperatorSite"
