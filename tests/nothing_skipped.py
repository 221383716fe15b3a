"""A pytest plugin of the test command: a run in which something was skipped is a failed run."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a green run with skipped tests red, and name them."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return  # a worker: the controller counts
    skipped = reporter.stats.get("skipped", [])
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for report in skipped:
            reporter.write_line(f"skipped, which counts as a failure: {report.nodeid}", red=True)
