"""``manage.py up``: the product on this machine, in the foreground."""

from typing import Any

from django.core.management.base import CommandError

from jobctrl.home import HomeUnusable
from operations.errors import OperationsError
from operations.management.product import ProductCommand
from operations.processes.interrupts import stop_on_signals
from operations.processes.ports import PortTaken
from operations.processes.product import run_product
from operations.processes.supervisor import SupervisorError
from operations.processes.temporal_server import BadPort, TemporalDamaged, TemporalMissing
from operations.processes.web_server import BadAddress
from operations.processes.workspace_lock import AlreadyRunning

REFUSALS = (
    AlreadyRunning,
    BadAddress,
    BadPort,
    HomeUnusable,
    OperationsError,
    PortTaken,
    SupervisorError,
    TemporalDamaged,
    TemporalMissing,
)


class Command(ProductCommand):
    help = (
        "Start Temporal, the worker and the web app, wait until each is healthy and stay in the foreground. Ctrl-C "
        "stops them in order; a second Ctrl-C kills what is left. With --verbosity 2 the parts' logs are shown as well."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        stop_on_signals()
        try:
            with run_product(announce=self._print_line, verbose=options["verbosity"] >= 2) as product:
                self._print_line("Everything is running. Ctrl-C stops it.")
                self._print_line(f"Sign in (once, within ten minutes): {product.create_sign_in_link()}")
                product.supervisor.wait()
        except KeyboardInterrupt:
            self._print_line("Stopped.")
        except REFUSALS as error:
            raise CommandError(str(error)) from error

    def _print_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
