"""``manage.py sign_in_link``: a new one-time link for the web app."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import OperationalError
from django.utils import timezone

from operations.access.links import create_link
from operations.management.product import ProductCommand
from operations.processes.web_server import BadAddress, resolve_base_url


class Command(ProductCommand):
    help = "Print a link that signs you in to the web app once, within ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", help="where the web app is reached, if not at JOBCTRL_WEB_ADDRESS")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            base_url = options["base_url"] or resolve_base_url(
                settings.JOBCTRL_HOME.root, setting=settings.JOBCTRL_WEB_ADDRESS
            )
            self.stdout.write(create_link(base_url.rstrip("/"), now=timezone.now()))
        except BadAddress as error:
            raise CommandError(str(error)) from None
        except OperationalError:
            raise CommandError("There is no database here yet. Start everything with: manage.py up") from None
