from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules

#: The small modules in which each app declares itself to the engine, in the order they are read.
DECLARATIONS = (
    "events",
    "stored_settings",
    "stored_files",
    "stages",
    "projections",
    "reconcilers",
    "health",
    "actions",
    "panels",
    "live",
)


class OperationsConfig(AppConfig):
    name = "operations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from operations import checks
        from operations.eventlog.guards import install_guards
        from operations.search_index import install_search
        from operations.streaming import announcing  # noqa: F401 - its hook runs in every process that writes
        from operations.streaming.checks import check_middleware

        for module in DECLARATIONS:
            autodiscover_modules(module)

        def install(**_: object) -> None:
            install_guards()
            install_search()

        post_migrate.connect(install, sender=self, weak=False)
        register(checks.check_guards, "database")
        register(checks.check_stages, checks.TAG)
        register(checks.check_answer_seconds, checks.TAG)
        register(check_middleware, checks.TAG)
