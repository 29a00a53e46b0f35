#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    from jobctrl.home import HomeUnusable

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except HomeUnusable as error:  # the settings read the secret key from the home
        sys.exit(f"CommandError: {error}")
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"CommandError: {error}")
    except DatabaseError as error:
        from operations.checkup import advise_on_failure, describe_failure, is_outside_fault

        if "--traceback" in sys.argv or not is_outside_fault(error):
            raise
        what = describe_failure(error)
        sys.exit(f"CommandError: {what[0].upper()}{what[1:]}. {advise_on_failure(error)}")


if __name__ == "__main__":
    main()
