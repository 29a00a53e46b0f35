#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    from django.core.management import execute_from_command_line

    from jobctrl.home import HomeUnusable

    try:
        execute_from_command_line(sys.argv)
    except HomeUnusable as error:  # the settings read the secret key from the home
        sys.exit(f"CommandError: {error}")


if __name__ == "__main__":
    main()
