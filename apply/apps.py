from django.apps import AppConfig


class ApplyConfig(AppConfig):
    name = "apply"
    default_auto_field = "django.db.models.BigAutoField"
