"""The short form of the jobs: what colleagues ask most goes as it should, in few model calls and tokens."""

from __future__ import annotations

import pytest

from tests.jobs.job import Job, read_jobs
from tests.jobs.playing import play

QUICK = [job for job in read_jobs() if job.quick]
ON_A_LEDGER = {"a-table-and-three-questions", "stop-and-go-on", "direct-messages"}


@pytest.mark.parametrize("job", QUICK, ids=lambda job: job.name)
async def test_a_job_goes_as_colleagues_expect(job: Job, redis_url: str) -> None:
    """The rows that a job names: what people see, the tools that ran, calls and tokens at most."""
    for stateless in (False, True)[: 1 + (job.name in ON_A_LEDGER)]:
        played = await play(job, redis_url, stateless=stateless)
        assert not played.problems, "\n".join([*played.problems, *played.transcript])
