"""Whether a call runs, is refused, or has to be asked about (spec: session-loop.md, "Permissions").

The order, where the first that applies decides:

1. a deny rule, or a write into our own settings and state: refused, in every mode;
2. plan mode: whatever does not only read is refused, whatever rules allow;
3. a file that the sandbox profile keeps from being written: asked, in every mode, unless this very file was let out
   in this session; what steers git or us is refused then;
4. a command or an edit under a profile that nothing on this machine keeps: asked, in every mode;
5. what steers git or us (`.git/`, `.grokmini/`), or names our own folders in a command: asked, in every mode;
6. an ask rule, or a command of which cannot be known whether it reads what a deny rule keeps from being read:
   asked, in every mode;
7. always-approve: runs;
8. destructive and dangerous commands: asked, unless a rule names exactly that; what would show the content of a file
   named `.env*` in the project: asked, unless a rule allows just that;
9. allow rules and what was answered with "always": runs;
10. a write outside of the workspace: asked;
11. tools and commands that only read: run;
12. accept-edits and auto: edits in the workspace run; auto: commands run in a real sandbox that keeps all it promises;
13. everything else: asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from grokmini.files.places import real_path, repository_root
from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.protocol.tools import ToolKind, ToolNamespace
from grokmini.text.sanitise import sanitise
from grokmini.tools.command_reads import Sweep, sweep
from grokmini.tools.command_review import Review, passes, review
from grokmini.tools.contract import Subject, Tool
from grokmini.tools.env_files import is_env_file, shown_env_file
from grokmini.tools.leaving import LetOut, leave_options
from grokmini.tools.path_rules import allows_path, stops_path
from grokmini.tools.protected import NOTHING, Protected, forms, never_asked, steers
from grokmini.tools.questions import (
    command_options,
    command_rule,
    edit_options,
    once_options,
    short_path,
    where_details,
)
from grokmini.tools.read_denials import ReadDenials
from grokmini.tools.rules import (
    Rule,
    RuleSet,
    allows_command,
    allows_text,
    covers_value,
    exact_rule,
    governs,
    is_exact,
    is_narrow,
    parse_rule,
    parse_rules,
    stops_invocation,
    stops_text,
)
from grokmini.tools.shell_parse import Command
from grokmini.tools.verdicts import Allow, Ask, Deny, Verdict


class GrantStore(Protocol):
    """Where "always in this repository" is kept: in the user's state, by the repository's real root."""

    def granted(self, repository: Path) -> tuple[str, ...]:
        """The rules that were allowed there."""

    def grant(self, repository: Path, rule: str) -> None:
        """Remember one more. Raises `ConfigError` when it cannot be written."""


_FILE_RULES = frozenset({"Read", "Edit", "Write", "Delete", "Grep"})
_READS = frozenset({"Read", "Grep"})
_PATH_RULES = frozenset({"Read", "Edit", "Grep"})
_EDITS = frozenset({ToolKind.EDIT, ToolKind.WRITE, ToolKind.DELETE, ToolKind.MOVE})
_HARMLESS = frozenset(
    {ToolKind.PLAN, ToolKind.BACKGROUND_TASK, ToolKind.WAIT_TASKS, ToolKind.KILL_TASK, ToolKind.ASK_USER,
     ToolKind.ENTER_PLAN, ToolKind.EXIT_PLAN, ToolKind.SKILL, ToolKind.SEARCH_TOOL}
)  # fmt: skip
_REACHES_OUT = frozenset({ToolKind.WEB_FETCH})


class _Call(NamedTuple):
    """A call with everything that decides about it."""

    tool: Tool[Any]
    subject: Subject
    paths: tuple[Path, ...]
    mode: PermissionMode
    contained: bool
    profile: str
    degraded: bool
    shown: str
    root: Path
    review: Review | None
    sweep: Sweep

    @property
    def unkept(self) -> bool:
        """Whether a profile is in force that nothing on this machine keeps."""
        return bool(self.profile) and not self.contained


class PermissionPolicy:
    """Judges calls by `rules`, remembered answers and the mode.

    `workspace_root` gives the folder that edits are free in, `shell_folder` the one that the next command starts
    in (the root, when not given). `protected` are our own folders. `leaves_sandbox` says why the profile in force
    keeps a real path from being written, "" when it does not. `let_out` is what was let out of it in this session.
    """

    def __init__(
        self,
        rules: RuleSet,
        grants: GrantStore,
        workspace_root: Callable[[], Path],
        *,
        shell_folder: Callable[[], Path] | None = None,
        protected: Protected = NOTHING,
        leaves_sandbox: Callable[[Path], str] = lambda path: "",
    ) -> None:
        self.rules = rules
        self._grants = grants
        self._workspace_root = workspace_root
        self._shell_folder = shell_folder or workspace_root
        self._protected = protected
        self._leaves_sandbox = leaves_sandbox
        self.let_out = LetOut()
        self._session: tuple[Rule, ...] = ()
        self._granted: dict[Path, tuple[Rule, ...]] = {}

    def judge(
        self,
        tool: Tool[Any],
        subject: Subject,
        paths: tuple[Path, ...],
        mode: PermissionMode,
        *,
        contained: bool,
        profile: str = "",
        degraded: bool = False,
        shown: str = "",
    ) -> Verdict:
        """Decide about a call. `paths` are those it would write; `contained` says that a real sandbox is active,
        `profile` which one should be ("" for none), `degraded` that it does not keep all it promises, `shown` what a
        command can do in it.

        May read git's settings and resolve links; runs and changes nothing.
        """
        root = self._workspace_root()
        reviewed = None
        if subject.rule_name == "Bash":
            reviewed = review(subject.value, self._shell_folder(), root, self._protected)
        swept = self._sweep(reviewed, root)
        call = _Call(tool, subject, paths, mode, contained, profile, degraded, shown, root, reviewed, swept)
        refusal = self._refused(call)
        if refusal is not None:
            return refusal
        reads = self._only_reads(call)
        if mode is PermissionMode.PLAN and not reads:
            return _plan_mode(call)
        beyond = self._beyond_sandbox(call)
        if isinstance(beyond, Deny | Ask):
            return beyond
        if asked := self._asked_whatever_allows_it(call):
            return asked
        if call.sweep.doubt and not self._allowed_as_text(call):
            return self._ask(call, f"{call.sweep.doubt}, and some files may not be read", remember=False)
        if beyond:
            return Allow(beyond)
        if mode is PermissionMode.ALWAYS_APPROVE:
            return Allow()
        if reviewed is not None and reviewed.dangers and not self._names_danger(call, reviewed):
            return self._ask(call, f"it {reviewed.dangers[0].reason}")
        if shown_file := self._env_file(call):
            return self._ask(call, f"{short_path(shown_file)} may hold keys")
        if self._allowed(call):
            return Allow()
        if outside := _outside(call):
            return self._ask(call, f"{short_path(outside)} is outside of {short_path(root)}")
        if reads or self._free_in_mode(call):
            return Allow()
        return self._ask(call, _doubt(call))

    def _asked_whatever_allows_it(self, call: _Call) -> Ask | None:
        """The question about what is asked in every mode and no allow rule opens, each with what would."""
        if call.unkept and (call.review is not None or call.paths):
            reason = f"nothing here keeps the sandbox profile {call.profile}; --sandbox off goes without"
            way = f"Nothing on this machine keeps the sandbox profile {call.profile}; "
            way += "the user can choose --sandbox off."
            return self._ask(call, reason, way=way)
        if guarded := self._guarded(call):
            way = f"No rule allows it, since {guarded}; the user can do it, or answer at a terminal."
            return self._ask(call, guarded, way=way)
        return None

    def remember(self, answer: PermissionAnswer) -> None:
        """Keep what an "always" answer allows. Raises `ConfigError` when it cannot be stored; it then still holds
        in this session.
        """
        if answer.decision != "allow" or answer.scope == "once" or not answer.rule:
            return
        self._session = (*self._session, parse_rule(answer.rule, "allow"))
        if answer.scope == "repository":
            self._grants.grant(self._repository(), answer.rule)

    def read_denials(self) -> ReadDenials:
        """What deny rules keep from being read, as things are now: for whoever looks through many files."""
        rules = [rule for rule in self.rules.deny if governs(rule, "Grep")]
        return ReadDenials(rules, self._workspace_root())

    def _sweep(self, reviewed: Review | None, root: Path) -> Sweep:
        """What a command would read or write by wildcards and whole folders, as far as rules are about it."""
        about_paths = any(
            rule.pattern is not None and rule.tool in _PATH_RULES
            for rule in (*self.rules.deny, *self.rules.ask)
        )
        if reviewed is None or not about_paths:
            return Sweep()
        return sweep(reviewed, self.read_denials())

    def _repository(self) -> Path:
        root = self._workspace_root()
        return repository_root(root) or real_path(root)

    def _allow_rules(self) -> tuple[Rule, ...]:
        repository = self._repository()
        if repository not in self._granted:
            self._granted[repository] = parse_rules(allow=self._grants.granted(repository)).allow
        return (*self.rules.allow, *self._session, *self._granted[repository])

    def _refused(self, call: _Call) -> Deny | None:
        if rule := self._stopping_rule(call, self.rules.deny):
            return Deny(
                f"Not run: the user's rule {rule.text} denies it. Do not try to reach the same end another way; "
                "do what is possible without it and tell the user."
            )
        if found := call.sweep.denied:
            return Deny(
                f"Not run: it would read {short_path(found.path)}, which the user's rule {found.rule.text} denies. "
                f"Name the files it should read, without that one; or search with the grep tool, which leaves it out."
            )
        if call.review is not None and call.review.obscure and self.rules.deny:
            return Deny(
                "Not run: the command is too long or too nested to check against the user's rules. Split it."
            )
        written = [forms(path) for path in call.paths]
        if call.review is not None:
            written += call.review.written.values()
        if any(self._protected.owns_form(path) for path in written):
            return Deny(
                "Not run: the folders with grokmini's own settings and sessions are never written by tools. "
                "If the user wants a setting changed, tell them what to change."
            )
        return None

    def _stopping_rule(self, call: _Call, rules: Sequence[Rule]) -> Rule | None:
        """The first deny or ask rule that the call falls under."""
        for rule in rules:
            if call.review is not None and self._stops_command(rule, call.review, call):
                return rule
            if call.review is None and governs(rule, call.subject.rule_name) and self._stops_other(rule, call):
                return rule
        return None

    def _stops_command(self, rule: Rule, reviewed: Review, call: _Call) -> bool:
        if governs(rule, "Bash"):
            return stops_text(rule, reviewed.text) or any(
                stops_invocation(rule, words) for words in reviewed.invocations
            )
        if rule.pattern is None or rule.tool not in ("Read", "Edit"):
            return False
        if rule.tool == "Edit" and not reviewed.doubt:
            return False
        if any(stops_path(rule, path, call.root) for path in reviewed.named.values()):
            return True
        covered = ReadDenials((rule,), call.root)
        return any(covered.covers(str(path)) for path in call.sweep.paths)

    def _stops_other(self, rule: Rule, call: _Call) -> bool:
        paths = _subject_paths(call)
        if paths and rule.tool != "*":
            return any(stops_path(rule, forms(path), call.root) for path in paths)
        return covers_value(rule, call.subject.value)

    def _only_reads(self, call: _Call) -> bool:
        if call.review is not None:
            return not call.review.doubt
        if call.tool.kind in _REACHES_OUT or call.tool.namespace is ToolNamespace.MCP:
            return False
        if call.paths or not (call.tool.read_only or call.tool.kind in _HARMLESS):
            return False
        root = real_path(call.root)
        for path in _subject_paths(call):
            around = not real_path(path).is_relative_to(root) and call.subject.rule_name == "Grep"
            if self._protected.hides(path) or (around and self._protected.lies_below(path)):
                return False
        return True

    def _guarded(self, call: _Call) -> str:
        """Why the call is asked about in every mode; empty when it is not."""
        written = {path: forms(path) for path in call.paths}
        if call.review is not None and call.review.doubt:
            if call.review.obscure:
                return "it is too long or too nested to be checked"
            for path, path_forms in call.review.named.items():
                if self._protected.owns_form(path_forms):
                    return f"it names a folder of grokmini's own: {short_path(path)}"
            always = call.mode is PermissionMode.ALWAYS_APPROVE
            written = call.review.written if always else call.review.named
        for path, path_forms in written.items():
            if part := steers(path_forms):
                return f"{short_path(path)} is in {part}, which steers git or grokmini"
        rule = self._stopping_rule(call, self.rules.ask)
        return f"the rule {rule.text} asks" if rule else ""

    def _beyond_sandbox(self, call: _Call) -> tuple[Path, ...] | Deny | Ask:
        """The paths beyond the sandbox that the call may write, empty when it writes none; else what keeps it."""
        rules = {path: rule for path in call.paths if call.profile and (rule := self._leaves_sandbox(path))}
        for path in rules:
            if never_asked(forms(path)):
                return Deny(
                    f"Not run: {short_path(path)} steers grokmini or git, and tools never write such files in a "
                    "sandbox. Tell the user what to change.",
                    ToolErrorKind.SANDBOX_DENIED,
                )
        if all(self.let_out.has_file(call.profile, path) for path in rules):
            return tuple(rules)
        details = tuple(
            sanitise(
                f"it would write {path}, outside of the sandbox profile {call.profile}: {rule}", newlines=False
            )
            for path, rule in rules.items()
        )
        way = "The user can choose a sandbox profile that lets it be written (--sandbox, sandbox.toml)."
        return Ask(
            title=sanitise(call.subject.title, newlines=False),
            subject=sanitise(call.subject.value),
            details=details,
            options=leave_options("file"),
            way=f"{'. '.join(details)}. {way}",
            outside=tuple(rules),
        )

    def _env_file(self, call: _Call) -> Path | None:
        """The first file named `.env*` in the project that the call would show and no rule lets it."""
        project = self._repository()
        if call.review is not None:
            if self._allowed_as_text(call):
                return None
            return shown_env_file(call.review, project, self._allow_rules(), call.root)
        if call.subject.rule_name not in _READS or self._allowed(call):
            return None
        return next((path for path in _subject_paths(call) if is_env_file(forms(path), project)), None)

    def _names_danger(self, call: _Call, reviewed: Review) -> bool:
        """Whether a rule allows the dangerous parts by name, not by a wide prefix that happens to cover them.

        For what destroys something only a rule for exactly that counts.
        """
        destructive = any(one.destructive for one in reviewed.dangers)
        rules = [rule for rule in self._allow_rules() if governs(rule, "Bash")]
        if self._allowed_as_text(call):
            return True

        def named(command: Command) -> bool:
            return any(
                allows_command(rule, command) and (is_exact(rule) if destructive else is_narrow(rule))
                for rule in rules
            )

        return passes(reviewed, named)

    def _allowed_as_text(self, call: _Call) -> bool:
        """Whether a rule is letter for letter this command."""
        rules = [rule for rule in self._allow_rules() if governs(rule, "Bash")]
        return any(allows_text(rule, call.subject.value) for rule in rules)

    def _allowed(self, call: _Call) -> bool:
        rules = [rule for rule in self._allow_rules() if governs(rule, call.subject.rule_name)]
        if call.review is not None:
            if any(rule.pattern is None or allows_text(rule, call.subject.value) for rule in rules):
                return True
            return passes(call.review, lambda command: any(allows_command(rule, command) for rule in rules))
        paths = _subject_paths(call)
        if paths:
            return all(any(allows_path(rule, path, call.root) for rule in rules) for path in paths)
        return any(covers_value(rule, call.subject.value) for rule in rules)

    def _free_in_mode(self, call: _Call) -> bool:
        if call.tool.kind in _EDITS and call.paths:
            return call.mode in (PermissionMode.ACCEPT_EDITS, PermissionMode.AUTO)
        kept = call.contained and not call.degraded
        return call.mode is PermissionMode.AUTO and kept and call.review is not None

    def _ask(self, call: _Call, reason: str, *, remember: bool = True, way: str = "") -> Ask:
        """The question and its reason; with a `way`, no rule can answer it."""
        details: list[str] = []
        rule = exact_rule(call.subject.rule_name, call.subject.value)
        if call.review is not None:
            rules = [entry for entry in self._allow_rules() if governs(entry, "Bash")]
            rule = command_rule(call.review, lambda command: any(allows_command(r, command) for r in rules))
            sandbox = call.shown or f"sandbox {call.profile or 'on'}"
            details += where_details(call.review.folders[0], sandbox if call.contained else "")
            options = command_options(rule, call.subject.value, self._repository())
        elif call.paths:
            inside = _outside(call) is None
            rule = "Edit" if inside else exact_rule("Edit", str(real_path(call.paths[0])))
            options = edit_options(rule)
        else:
            if call.subject.rule_name in _READS:
                rule = exact_rule(call.subject.rule_name, str(real_path(call.root / call.subject.value)))
            options = command_options(rule, call.subject.value, self._repository())
        if reason:
            details.append(f"asked because {sanitise(reason, newlines=False)}")
        linked = [path for path in _subject_paths(call) if len(forms(path)) > 1]
        details += [f"{short_path(path)} is really {short_path(real_path(path))}" for path in linked]
        return Ask(
            title=sanitise(call.subject.title, newlines=False),
            subject=sanitise(call.subject.value),
            details=tuple(details),
            options=options if remember and not way else once_options(),
            rule=sanitise(rule, newlines=False),
            way=sanitise(way, newlines=False),
        )


def _subject_paths(call: _Call) -> tuple[Path, ...]:
    """The paths that a file tool's call is about: as the model gave it, and those it would really write."""
    if call.subject.rule_name in _FILE_RULES and call.subject.value and "\x00" not in call.subject.value:
        return (call.root / call.subject.value, *call.paths)
    return call.paths


def _doubt(call: _Call) -> str:
    """Why a command is not just run."""
    doubt = call.review.doubt if call.review is not None else ""
    if doubt and call.mode is PermissionMode.AUTO and call.degraded:
        doubt += "; the sandbox keeps only a part of its profile here"
    return doubt


def _outside(call: _Call) -> Path | None:
    """The first path, its links resolved, that would be written outside of the workspace."""
    root = real_path(call.root)
    for path in call.paths:
        real = real_path(path)
        if not real.is_relative_to(root):
            return real
    return None


def _plan_mode(call: _Call) -> Deny:
    what = (
        "this command may change something"
        if call.review is not None
        else f"{call.tool.wire_name} changes something"
    )
    return Deny(
        f"Not run: in plan mode nothing is changed, and {what}. Go on reading, then present your plan; the user "
        "leaves plan mode to let you carry it out.",
        ToolErrorKind.PLAN_MODE,
    )
