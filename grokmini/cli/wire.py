"""The wiring: the one place that constructs a session from its parts.

`open_session` makes or opens a session with what `load_root` has read and starts the engine.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grokmini import __version__
from grokmini.chat.actor import ChatHandle, start_chat
from grokmini.chat.events import ChatEvent, Repaired
from grokmini.cli.choose_model import choose_model
from grokmini.cli.choose_session import OpenAs, open_files
from grokmini.cli.go_on import new_setup, setup_of
from grokmini.cli.model_lists import ModelLists
from grokmini.cli.moving import Mover
from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.sandboxed import Agree, choose
from grokmini.cli.session_sandbox import SessionSandbox
from grokmini.cli.window_watch import Learnt, WindowWatch
from grokmini.config.grants import GRANTS_FILE, GrantFile
from grokmini.prompt.context import PromptContext, gather
from grokmini.prompt.repository import branch_of
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.events import Notice, SessionStarted, TodoChanged
from grokmini.protocol.items import UserItem
from grokmini.protocol.model import ModelSpec
from grokmini.render.figures import plural
from grokmini.sampler.sampler import HttpSampler
from grokmini.sandbox.file_guard import FileGuard
from grokmini.sandbox.profile import OFF
from grokmini.session.engine import start_engine
from grokmini.session.handle import SessionHandle
from grokmini.session.parts import Live, Parts
from grokmini.session.prefix import SessionPrefix
from grokmini.session.stream import EventStream, Subscription
from grokmini.session.titles import may_be_asked
from grokmini.session.turn import CONCISE_WINDOW
from grokmini.store.sessions import OpenSession
from grokmini.text.title import quoted
from grokmini.tools.builtin.todo_write import TodoStore, todos_from
from grokmini.tools.contract import Resources
from grokmini.tools.permission import PermissionPolicy
from grokmini.tools.protected import NOTHING, protect
from grokmini.tools.read_denials import HiddenFiles
from grokmini.tools.registry import ToolRegistry
from grokmini.tools.rules import RuleSet
from grokmini.tools.shell_state import ShellState
from grokmini.tools.table import build_tools
from grokmini.workspace.workspace import Workspace

if TYPE_CHECKING:  # what confines is loaded when something is to be confined
    from grokmini.sampler.local_window import Window
    from grokmini.sandbox.probe import Mechanisms


class Wired(NamedTuple):
    """A running session. `events` was subscribed before the first event.

    `kill_now` kills every command that runs and waits for nothing: for leaving at once, from a signal handler too.
    """

    handle: SessionHandle
    events: Subscription
    chat: ChatHandle
    workspace: Workspace
    directory: Path
    live: Live
    root: Root
    registry: ToolRegistry
    sandbox: SessionSandbox
    kill_now: Callable[[], None]


class _Base(NamedTuple):
    """What every part of a session is connected to."""

    root: Root
    opened: OpenSession
    stream: EventStream
    live: Live
    sandbox: SessionSandbox


async def open_session(options: Options, *, interactive: bool, env: Mapping[str, str] = os.environ) -> Wired:
    """Read everything, choose the model, make or open the session, start its engine.

    `interactive` says whether a person can be asked. Raises `GrokminiError`.
    """
    root = load_root(options, env)
    return await start_session(
        root, await choose_model(root), OpenAs.from_options(options), interactive=interactive
    )


async def start_session(
    root: Root,
    model: ModelSpec,
    open_as: OpenAs,
    *,
    interactive: bool,
    may_title: Callable[[ModelSpec], bool] = may_be_asked,
    ask_about_profile: Agree | None = None,
    mechanisms: Mechanisms | None = None,
) -> Wired:
    """Open the session's files, connect its parts and start the engine.

    A session that goes on does so with its own model and permission mode unless the command line names others.
    `may_title` says which models may be asked for a title; `ask_about_profile` asks the person about a project's
    sandbox profile that grants more than `workspace`; `mechanisms` to confine with are found by trying.
    """
    registry, rules = _registry(root), root.rules()  # what is wrong there is said before a session is made
    opened = await open_files(
        open_as,
        root.places,
        root.cwd,
        model=model.name,
        branch=branch_of(root.cwd),
        interactive=interactive,
    )
    stream = EventStream(opened.session_id, opened.files, next_seq=opened.last_seq + 1, clock=time.time)
    events = stream.subscribe()
    setup = await setup_of(root, opened.summary, model) if opened.items else new_setup(root, model)
    live = Live(setup.mode, setup.model)
    sandbox = await _confined(root, opened, ask_about_profile, mechanisms)
    base = _Base(root, opened, stream, live, sandbox)
    _announce(base, interactive)
    for notice in setup.notices:
        stream.emit(notice)
    opened.files.on_trouble = stream.emit
    chat = _start_chat(base)
    parts = _connect(base, chat, registry, rules, interactive=interactive, may_title=may_title)
    handle = start_engine(parts, live, stream)
    return Wired(
        handle,
        events,
        chat,
        parts.workspace,
        opened.directory,
        live,
        root,
        registry,
        sandbox,
        sandbox.runner.kill_now,
    )


def _start_chat(base: _Base) -> ChatHandle:
    opened = base.opened
    chat, _ = start_chat(
        opened.items,
        opened.files,
        on_event=lambda event: _tell(base.stream, event),
        on_factor=opened.files.factor_learnt,
        usage=opened.summary.usage_rows or {"main": opened.summary.usage},
        factors=opened.token_factors,
        clear_age=base.root.settings.compaction.pruning.hard_clear_age_turns,
    )
    return chat


async def _confined(
    root: Root, opened: OpenSession, ask: Agree | None, mechanisms: Mechanisms | None
) -> SessionSandbox:
    """The sandbox of the session. One that was named is proved before anything else, the default when it is needed.

    Raises `SandboxError`; the files are then closed.
    """
    directory = opened.directory if root.options.save and root.places is not None else None
    summary = opened.summary
    known = summary.sandbox_profile
    async with AsyncExitStack() as unless_proved:
        unless_proved.push_async_callback(opened.files.close)
        sandbox = SessionSandbox(root, choose(root, known, ask), directory, mechanisms)
        if sandbox.explicit:
            unless_proved.push_async_callback(sandbox.runner.close)
            await sandbox.prove()
        unless_proved.pop_all()
    if sandbox.explicit and (sandbox.profile, sandbox.digest) != (known, summary.sandbox_digest):
        opened.files.runs_under(sandbox.profile, sandbox.digest)
    return sandbox


def _connect(
    base: _Base,
    chat: ChatHandle,
    registry: ToolRegistry,
    rules: RuleSet,
    *,
    interactive: bool,
    may_title: Callable[[ModelSpec], bool],
) -> Parts:
    root, opened, stream, live, sandbox = base
    settings = root.settings
    runner = sandbox.runner
    guard = FileGuard(lambda: runner.policy)
    workspace = Workspace(root.cwd, read_before_edit=not settings.tools.skip_read_before_edit, guard=guard)
    shell = ShellState(root.cwd, root.env, settings.shell, runner)
    sandbox.provides(shell.extend)
    policy = _policy(root, rules, workspace, shell, guard)

    return Parts(
        session_id=opened.session_id,
        chat=chat,
        sampler=WindowWatch(HttpSampler(root.catalogue.credential), root.catalogue, _learns_window(base, chat)),
        models=root.catalogue,
        registry=registry,
        policy=policy,
        workspace=workspace,
        resources=_resources(opened, workspace, shell, stream, policy),
        runner=runner,
        sandbox=sandbox,
        log=opened.files,
        record=opened.files,
        spill=opened.files,
        prefix=SessionPrefix(
            _look_around(root, workspace, guard, shell, live, interactive), registry.names, stream.emit
        ),
        move_to=Mover(root, sandbox, workspace, shell, policy).move_to,
        branch_of=branch_of,
        interactive=interactive and not (root.options.never_ask or settings.permission.never_ask),
        max_turns=root.options.max_turns or settings.session.max_turns,
        title_source=opened.summary.title_source,
        may_title=may_title if interactive else lambda model: False,
        clock=time.time,
        monotonic=time.monotonic,
    )


def _learns_window(base: _Base, chat: ChatHandle) -> Learnt:
    """A function that takes up a local model's window, and tells the person what there is to tell."""
    root, _, stream, live, _ = base

    def learn(spec: ModelSpec, window: Window, said: str) -> None:
        known = root.catalogue.learn_window(spec, window.now or spec.context_window)
        if live.model.name == spec.name:
            live.model = known
            chat.set_model(known)
        if said:
            stream.emit(Notice("warning", said, "model"))

    return learn


def _look_around(
    root: Root, workspace: Workspace, guard: FileGuard, shell: ShellState, live: Live, interactive: bool
) -> Callable[[], PromptContext]:
    """A function that gathers what the prompt is made from, as it is at the time of the call."""
    return lambda: gather(
        cwd=workspace.root,
        env=root.env,
        config_folder=root.places.config if root.places else None,
        today=datetime.date.today(),
        interactive=interactive,
        concise=live.model.context_window <= CONCISE_WINDOW,
        shell=shell.shell_name,
        check=guard.check_denied,
    )


def _announce(base: _Base, interactive: bool) -> None:
    """The first events of every stream: that the session is open, and what was noticed on the way."""
    root, opened, stream, live, sandbox = base
    stream.emit(
        SessionStarted(
            version=__version__,
            cwd=join_surrogates(str(root.cwd)),
            model=live.model.name,
            mode=live.mode,
            sandbox=sandbox.runner.enforcement.label,
            resumed=bool(opened.items),
            branch=branch_of(root.cwd),
            context_window=live.model.context_window,
        )
    )
    if doubt := ModelLists(root.places).doubt(live.model):
        stream.emit(Notice("warning", f"{doubt}. /model lists what there is.", "model"))
    sandbox.begin(stream.emit)
    for warning in root.warnings:
        stream.emit(Notice("warning", join_surrogates(warning), "settings"))
    for notice in opened.notices:
        stream.emit(notice)
    if opened.items:
        prompts = sum(
            isinstance(stored.item, UserItem) and stored.item.is_real_prompt for stored in opened.items
        )
        text = f"going on with {quoted(opened.summary.title)}, {plural(prompts, 'prompt')} so far"
        if interactive:
            text += "; /repaint shows the last ones"
        stream.emit(Notice("info", text, "resumed"))
    if opened.summary.sandbox_profile == OFF == sandbox.profile and not root.options.sandbox:
        text = "This session goes on without a sandbox, as it was left; /sandbox workspace confines it."
        stream.emit(Notice("warning", text, "sandbox"))
    if sandbox.profile == opened.summary.sandbox_profile and sandbox.digest != opened.summary.sandbox_digest:
        text = (
            f"The project's sandbox profile {sandbox.profile} is not what it was when this session ran under it last; "
            "/sandbox shows what holds now."
        )
        stream.emit(Notice("warning", text, "sandbox"))
    worked_in = opened.summary.current_cwd or opened.summary.cwd
    if opened.items and worked_in != join_surrogates(str(root.cwd)):
        stream.emit(Notice("info", f"This session worked in {worked_in}; /cd goes there.", "folder"))


def _registry(root: Root) -> ToolRegistry:
    registry = ToolRegistry(
        build_tools(only=root.options.tools, without=root.options.without_tools),
        {"skip_read_before_edit": root.settings.tools.skip_read_before_edit},
    )
    registry.finalize()
    return registry


def _policy(
    root: Root, rules: RuleSet, workspace: Workspace, shell: ShellState, guard: FileGuard
) -> PermissionPolicy:
    places = root.places
    return PermissionPolicy(
        rules,
        GrantFile(places.state / GRANTS_FILE if places else None),
        lambda: workspace.root,
        shell_folder=lambda: shell.cwd,
        protected=protect((places.config, places.state, places.data), (places.config,)) if places else NOTHING,
        leaves_sandbox=guard.why_not_written,
    )


def _resources(
    opened: OpenSession, workspace: Workspace, shell: ShellState, stream: EventStream, policy: PermissionPolicy
) -> Resources:
    resources = Resources()
    resources.add(Workspace, workspace)
    resources.add(ShellState, shell)
    resources.add(HiddenFiles, HiddenFiles(policy.read_denials))
    todos = TodoStore(lambda entries: stream.emit(TodoChanged(entries)))
    todos.restore(todos_from(stored.item for stored in opened.items))
    resources.add(TodoStore, todos)
    return resources


def _tell(stream: EventStream, event: ChatEvent) -> None:
    """What a person should know of what happened to the history."""
    if isinstance(event, Repaired):
        text = f"The history was made valid: {', '.join(event.reasons)}."
        stream.emit(Notice("info", text, "repaired"))
