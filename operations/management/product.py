from django.core.management.base import BaseCommand

from operations import checks


class ProductCommand(BaseCommand):
    """A command that runs the product's own checks and leaves Django's to ``make check``.

    Those import every page and every admin class: more than a third of what a short command takes.
    """

    requires_system_checks = [checks.TAG]
