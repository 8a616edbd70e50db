"""The files that hosts and services beside the bot read, judged by their own schemas and linters.

`python -m tests.image` builds and runs the image.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCHEMAS = {
    "compose.yaml": "vendor.compose-spec",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/workflows/ci.yml": "vendor.github-workflows",
    ".github/workflows/nightly.yml": "vendor.github-workflows",
    ".github/workflows/release.yml": "vendor.github-workflows",
}


def test_each_file_fits_its_schema() -> None:
    """A typing error in one of these is found here and not on the day of a deployment."""
    for schema in sorted(set(SCHEMAS.values())):
        files = [str(ROOT / name) for name, wanted in SCHEMAS.items() if wanted == schema]
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_actions_of_others_are_pinned_to_a_commit() -> None:
    """A tag can be moved to other code, which would then run with what the workflow may do (A11)."""
    used = []
    for workflow in sorted((ROOT / ".github/workflows").glob("*.yml")):
        for job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values():
            used += [each["uses"] for each in (job, *job.get("steps", ())) if "uses" in each]
    foreign = [each for each in used if not each.startswith("./")]
    assert foreign
    assert [each for each in foreign if not re.fullmatch(r".+@[0-9a-f]{40}", each)] == []


def test_the_dockerfile_has_nothing_that_hadolint_warns_of() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None and sys.platform != "linux":
        pytest.skip("hadolint's package is for Linux only")
    assert linter
    done = subprocess.run([linter, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_compose_runs_what_the_procfile_runs_and_asks_for_health() -> None:
    """Each process has a Redis that drops nothing and keeps everything, and time to finish."""
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    ours = [each for each in services.values() if each.get("build")]
    procfile = yaml.safe_load((ROOT / "Procfile").read_text(encoding="utf-8"))
    assert {" ".join(each["command"]) for each in ours} == set(procfile.values())
    for each in ours:
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["depends_on"]["redis"]["condition"] == "service_healthy"
        assert int(each["stop_grace_period"].removesuffix("s")) > 20  # [engine] grace
    redis = " ".join(services["redis"]["command"])
    assert "--appendonly yes" in redis
    assert "--maxmemory-policy noeviction" in redis
    assert "valkey" in services["redis"]["image"]
    assert services["redis"]["volumes"]
