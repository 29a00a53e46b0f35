"""Random SIGKILLs of worker, web and Temporal over real runs; ``make chaos`` and a short part of the test suite."""
