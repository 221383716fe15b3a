"""What a session's model is told first, and what the person hears of files that were left out of it."""

from __future__ import annotations

import datetime
from pathlib import Path

from grokmini.prompt.context import PromptContext, gather
from grokmini.protocol.events import Notice
from grokmini.protocol.items import SyntheticReason, UserItem
from grokmini.sandbox.file_guard import FileGuard
from grokmini.sandbox.policy import Policy
from grokmini.session.prefix import SessionPrefix
from grokmini.tools.registry import ToolRegistry
from grokmini.tools.table import build_tools


async def _told(cwd: Path, policy: Policy | None) -> tuple[str, list[Notice]]:
    """The instructions in the request, and the notices, of two prompts."""
    guard = FileGuard(lambda: policy)
    notices: list[Notice] = []

    def look() -> PromptContext:
        return gather(
            cwd=cwd,
            env={},
            config_folder=None,
            today=datetime.date(2026, 1, 1),
            interactive=True,
            check=guard.check_denied,
        )

    registry = ToolRegistry(build_tools())
    registry.finalize()
    prefix = SessionPrefix(look, registry.names, notices.append)
    items = list(await prefix.before_prompt(()))
    items += await prefix.before_prompt(items)
    texts = [
        item.text
        for item in items
        if isinstance(item, UserItem) and item.synthetic_reason is SyntheticReason.PROJECT_INSTRUCTIONS
    ]
    return "".join(texts), notices


async def test_instructions_that_lead_out_of_the_project_are_left_out_with_one_notice(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("top secret")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "AGENTS.md").symlink_to("../secret")
    (project / "CLAUDE.md").write_text("Be kind.")
    text, notices = await _told(project, None)
    assert "Be kind." in text and "top secret" not in text
    assert [notice.code for notice in notices] == ["instructions"]
    assert notices[0].text == (
        f"{project}/AGENTS.md is a link that leads out of the project; the model is not told what it says. "
        "Remove it, or copy the file."
    )


async def test_instructions_that_are_a_denied_file_are_left_out_with_the_rule(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=top secret")
    (tmp_path / "AGENTS.md").symlink_to(".env")
    (tmp_path / "CLAUDE.md").hardlink_to(tmp_path / ".env")
    policy = Policy("mine", denied=(str(tmp_path / ".env"),))
    text, notices = await _told(tmp_path, policy)
    assert not text
    assert "the sandbox profile mine does not let it be read: it is" in notices[0].text
    assert "top secret" in (await _told(tmp_path, None))[0]


async def test_what_git_ignores_is_left_out_without_a_word(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("AGENTS.md\n")
    (tmp_path / "AGENTS.md").write_text("Be kind.")
    assert await _told(tmp_path, None) == ("", [])
