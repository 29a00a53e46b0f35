from django.contrib.admin.apps import SimpleAdminConfig


class OperatorAdminConfig(SimpleAdminConfig):
    """Django's admin, with our site as ``admin.site``. ``jobctrl.urls`` reads the apps' admin modules: a worker or a
    command, which shows no page, does without."""

    default_site = "operations.admin_site.OperatorSite"
