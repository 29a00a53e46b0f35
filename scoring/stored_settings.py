"""Settings that scoring declares."""

from operations.settings_store import Setting, check_integer, declare

declare(
    Setting(
        "min_fit_score",
        7,
        check_integer(1, 10),
        "1 to 10",
        label="Lowest score that is prepared",
        group="Scoring",
        help="Jobs below it get no resume and no letter. A job with exactly this score is prepared.",
    )
)
