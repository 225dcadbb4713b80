"""Options, fixtures and reports that all tests share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]

hypothesis.settings.register_profile("dev", derandomize=True, deadline=None)
hypothesis.settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, print_blob=True
)
# Only here does --seed decide: a derandomized profile has no seed.
hypothesis.settings.register_profile("seeded", derandomize=False, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --seed, --full-grid and --skip-report."""
    parser.addoption("--seed", type=int, help="seed of the random tests (default 0)")
    parser.addoption(
        "--full-grid", action="store_true", help="all of the exhaustive grids: minutes"
    )
    parser.addoption("--skip-report", type=Path, help="write skipped tests to a file")


def pytest_configure(config: pytest.Config) -> None:
    """Hand --seed to hypothesis, and start the record of skipped tests."""
    seed = config.getoption("--seed")
    if seed is not None:
        hypothesis.settings.load_profile("seeded")
        hypothesis.core.global_force_seed = seed
    config.pluginmanager.register(SkipReport(config.getoption("--skip-report")))


class SkipReport:
    """Every skipped test with its reason, one a line, a tab between the two."""

    def __init__(self, target: Path | None) -> None:
        self.target = target
        self.lines: list[str] = []

    def record(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Note a skip; an expected failure is not one."""
        if report.skipped and not hasattr(report, "wasxfail"):
            *_, reason = report.longrepr
            self.lines.append(f"{report.nodeid}\t{reason.removeprefix('Skipped: ')}")

    pytest_runtest_logreport = record
    pytest_collectreport = record

    def pytest_sessionfinish(self) -> None:
        """Write the record where --skip-report says."""
        if self.target is not None:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self.target.write_text("".join(f"{line}\n" for line in self.lines))


def commit() -> str:
    """The checked-out commit, or "unknown" outside a repository."""
    answer = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.stdout.strip() or "unknown"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show with each failure how to run it again."""
    report = yield
    if report.failed:
        seed = item.config.getoption("--seed") or 0
        report.sections.append(("run again", f"--seed={seed} at commit {commit()}"))
    return report


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """The run's seed: --seed, or 0."""
    return request.config.getoption("--seed") or 0


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator of the run's seed, fresh for each test."""
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The authors' reference files beside the checkout; absent elsewhere."""
    found = ROOT / "../shared"
    if not found.is_dir():
        pytest.skip("needs the reference files that lie beside the authors' checkout")
    return found.resolve()
