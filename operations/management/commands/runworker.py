from typing import Any

from django.core.management.base import CommandError

from jobctrl.home import HomeUnusable
from operations.errors import OperationsError
from operations.management.product import ProductCommand


class Command(ProductCommand):
    help = "Run workflows and activities until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        from operations.worker.runtime import run_worker

        try:
            run_worker()
        except HomeUnusable as error:
            raise CommandError(str(error)) from None
        except OperationsError as error:
            raise CommandError(error.message) from None
