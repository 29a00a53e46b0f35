from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from discovery.services.sources import SourceRefused, register_bundled_sources, register_source
from discovery.sources.base import SOURCES
from operations.management.product import ProductCommand


class Command(ProductCommand):
    help = "Add a board to what is crawled: a Greenhouse, Lever or Ashby board, or the bundled samples."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*sorted(SOURCES), "bundled"])
        parser.add_argument("board", nargs="?", default="", help="the board's token, as in its address")
        parser.add_argument("--base-url", default="", help="for a self-hosted board")
        parser.add_argument("--label", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["kind"] == "bundled":
                added = register_bundled_sources()
            else:
                added = [
                    register_source(
                        options["kind"], options["board"], base_url=options["base_url"], label=options["label"]
                    )
                ]
        except SourceRefused as refused:
            raise CommandError(refused.message) from None
        for source_id in added:
            self.stdout.write(source_id)
