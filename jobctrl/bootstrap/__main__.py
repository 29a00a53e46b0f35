"""``python3 -m jobctrl.bootstrap``: get this clone ready to run. Prints to stderr only."""

import argparse
import sys
from pathlib import Path

from jobctrl.bootstrap.browser import BROWSER_PACKAGE, ensure_browser
from jobctrl.bootstrap.environment import BootstrapError, ensure_environment, require_python

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m jobctrl.bootstrap", description=__doc__)
    parser.add_argument("--requirements", choices=("runtime", "development"), default="runtime")
    parser.add_argument(
        "--browser",
        choices=("unused", "wanted", "needed"),
        default="unused",
        help="wanted: say what is missing and go on; needed: stop without a Chromium",
    )
    options = parser.parse_args()
    try:
        require_python()
        ensure_environment(ROOT, requirements=options.requirements)
    except BootstrapError as error:
        print(error, file=sys.stderr)
        return 1
    if options.browser == "unused":
        return 0
    missing = ensure_browser(ROOT)
    for remedy in missing.values():
        print(remedy, file=sys.stderr)
    return 1 if options.browser == "needed" and BROWSER_PACKAGE in missing else 0


if __name__ == "__main__":
    sys.exit(main())
