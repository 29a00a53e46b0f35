"""``/v1/jobs/{id}`` says what the models that a job's stages asked have cost."""

from tests.operations.api.conftest import Script
from tests.operations.cast import Cast
from tests.operations.spending import attempt


def read_cost(script: Script, job_id: object) -> tuple[float | None, int, int]:
    job = script.get(f"/v1/jobs/{job_id}").json()
    return job["costUsd"], job["modelCalls"], job["unknownCalls"]


def test_what_a_jobs_stages_asked_of_models_stands_beside_it(script: Script, cast: Cast) -> None:
    attempt("0.25", job_id=cast.backend, stage="score", run_id="run-1")
    attempt("0.50", job_id=cast.backend, stage="tailor", run_id="run-2")
    attempt(job_id=cast.backend, stage="score", run_id="run-1")
    attempt(job_id=cast.data, stage="score")

    assert read_cost(script, cast.backend) == (0.75, 3, 1)
    assert read_cost(script, cast.data) == (None, 1, 1)
    assert read_cost(script, cast.sales) == (None, 0, 0)
