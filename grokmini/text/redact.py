"""Taking keys, passwords and names of home folders out of text that leaves the program (logs, reports, cassettes).

One rule set for every way out (spec: governance-memory.md, "Redaction").
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """What to find and what to put in its place."""

    name: str
    pattern: re.Pattern[str]
    replacement: str


def _rule(name: str, pattern: str, replacement: str | None = None) -> Rule:
    return Rule(name, re.compile(pattern), f"<{name}>" if replacement is None else replacement)


_START: Final = r"(?<![A-Za-z0-9_-])"
"""Where a key may begin: not inside a word, so that `task-…` and `risk-…` are none."""

RULES: Final[tuple[Rule, ...]] = (
    _rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=\s\\:,.]|-(?!----))*"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
    ),
    _rule(
        "api key",
        _START + r"(?:sk|pk|rk|xai|gsk|pplx|csk|fw|hf|nvapi|r8|tvly|glc|dop_v1)[-_][A-Za-z0-9_-]{16,}",
    ),
    _rule("aws key", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule("github token", _START + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    _rule("gitlab token", _START + r"gl(?:pat|ptt|dt|rt|cbt|soat|agent)-[A-Za-z0-9_-]{16,}"),
    _rule("slack token", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _rule("google key", _START + r"(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,})"),
    _rule("jwt", _START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    _rule(
        "authorization",
        r"(?i)\b((?:bearer|basic|token)\s+)(?!<)[A-Za-z0-9._~+/=-]{12,}",
        r"\1<authorization>",
    ),
    _rule(
        "url password",
        r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}):[^\s/@]{1,200}@",
        r"\1:<url password>@",
    ),
    _rule(
        "secret",
        r"(?i)((?<![a-z0-9])(?:[a-z0-9]{1,40}[_-]){0,6}"
        r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?token"
        r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|credentials?|token)"
        r"[\"']?\s{0,3}(?:=>|:=|=|:)\s{0,3}[\"']?)(?![<$({\s])[^\s\"'&;,<>]{6,}",
        r"\1<secret>",
    ),
    _rule(
        "query secret", r"(?i)([?&](?:key|sig|signature|code|auth|sas)=)[^\s&\"'<>#]{6,}", r"\1<query secret>"
    ),
    _rule(
        "home",
        r"(/home/|/Users/|(?i:[a-z]:\\Users\\))(?!(?:Shared|Public|Default|linuxbrew|runner)(?![\w.-]))[\w.-]+",
        r"\1<user>",
    ),
)

_MAY_HOLD: Final = re.compile(
    r"(?i)-----BEGIN|(?:sk|pk|rk|xai|gsk|pplx|csk|fw|hf|nvapi|r8|tvly|glc|dop_v1)[-_]|A[KSBC][IC]A|gh[pousr]_|github_pat"
    r"|gl[a-z]{2,5}-|xox|AIza|ya29|eyJ|bearer|basic|token|://|passw|passphrase|pwd|secret|key|credential"
    r"|[?&](?:sig|code|auth|sas)|/home/|\\?/?Users"
)
"""One pass that lets most text through untouched: what it does not match, no rule matches."""


def redact(text: str) -> str:
    """The text with secrets replaced by what they were in angle brackets; the same object when there are none."""
    if _MAY_HOLD.search(text) is None:
        return text
    for rule in RULES:
        text = rule.pattern.sub(rule.replacement, text)
    return text
