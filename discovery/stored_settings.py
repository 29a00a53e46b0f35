"""Settings that discovery declares."""

from operations.settings_store import NEXT_RUN, Setting, check_integer, declare

declare(
    Setting(
        "max_parallel_families",
        1,
        check_integer(1, 4),
        "1 to 4",
        NEXT_RUN,
        "Source families crawled at once",
        group="Discovery",
        help="A family is every board of one kind. Two of the worker's slots always stay free for the work on jobs.",
    ),
    Setting(
        "results_per_board",
        50,
        check_integer(1, 500),
        "1 to 500",
        NEXT_RUN,
        "Postings taken from each board",
        group="Discovery",
    ),
)
