"""Words of a command line and the options they become."""

from __future__ import annotations

import pytest

from grokmini.cli.options import Options
from grokmini.cli.parse import parse_options
from grokmini.protocol.errors import UsageError

SESSION_ID = "01930c5e-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    "words",
    [
        ["-p", "fix it"],
        ["--print", "fix it"],
        ["--single", "fix it"],
        ["--print=fix it"],
        ["-p", "--", "fix it"],
        ["fix it", "-p"],
        ["--output-format", "plain", "fix it", "-p"],
    ],
)
def test_print_takes_its_prompt_wherever_it_stands(words: list[str]) -> None:
    assert parse_options(words) == Options(prompt="fix it", print_mode=True)


def test_a_free_word_is_the_first_prompt_of_an_interactive_session() -> None:
    assert parse_options(["why?"]) == Options(prompt="why?")


def test_a_prompt_may_look_like_an_option_behind_two_dashes() -> None:
    assert parse_options(["--plain", "--", "--version"]) == Options(prompt="--version", plain=True)


def test_a_prompt_that_begins_with_a_dash_and_has_spaces_needs_no_care() -> None:
    assert parse_options(["-p", "- fix a\n- fix b"]).prompt == "- fix a\n- fix b"


@pytest.mark.parametrize("words", [["-p", "-"], ["-p", "review", "-"], ["-", "-p", "review"]])
def test_a_dash_stands_for_stdin_beside_a_prompt_or_alone(words: list[str]) -> None:
    options = parse_options(words)
    assert options.read_stdin
    assert options.prompt == ("review" if "review" in words else None)


@pytest.mark.parametrize("words", [["fix", "the", "bug"], ["-p", "fix", "it"], ["fix", "--plain", "it"]])
def test_more_than_one_word_asks_for_quotes(words: list[str]) -> None:
    with pytest.raises(UsageError, match="quote the prompt"):
        parse_options(words)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("--modle", "--model"),
        ("--output", "--output-format"),
        ("--contine", "--continue"),
        ("--alow", "--allow"),
    ],
)
def test_an_unknown_option_names_the_nearest_one(wrong: str, right: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options([wrong, "x"])
    assert caught.value.message == f"unknown option {wrong}"
    assert caught.value.hint == f"did you mean {right}?"


@pytest.mark.parametrize("option", ["--worktree", "--json-schema", "--rules"])
def test_options_of_features_that_do_not_exist_do_not_exist(option: str) -> None:
    with pytest.raises(UsageError, match=f"unknown option {option}"):
        parse_options([option, "x"])


def test_options_are_never_abbreviated() -> None:
    with pytest.raises(UsageError, match="unknown option --perm"):
        parse_options(["--perm", "ask"])


@pytest.mark.parametrize(
    ("spelling", "mode", "never_ask"),
    [
        ("accept-edits", "accept-edits", False),
        ("acceptEdits", "accept-edits", False),
        ("default", "ask", False),
        ("dontAsk", "ask", True),
        ("bypassPermissions", "always-approve", False),
    ],
)
def test_modes_are_known_by_our_names_and_the_references(spelling: str, mode: str, never_ask: bool) -> None:
    options = parse_options(["--permission-mode", spelling])
    assert (options.permission_mode, options.never_ask) == (mode, never_ask)


@pytest.mark.parametrize("flag", ["--yolo", "--always-approve", "--dangerously-skip-permissions"])
def test_yolo_has_three_names(flag: str) -> None:
    assert parse_options([flag]).permission_mode == "always-approve"


def test_rules_and_tools_are_kept_in_order() -> None:
    options = parse_options(
        ["--allow", "Bash(a, b)", "--deny", "Edit", "--allowedTools", "Read", "--tools", "read_file, grep,"]
    )
    assert options.allow == ("Bash(a, b)", "Read")
    assert options.deny == ("Edit",)
    assert options.tools == ("read_file", "grep")


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "³", ""])
def test_max_turns_is_a_whole_number_of_at_least_one(text: str) -> None:
    with pytest.raises(UsageError, match="max-turns"):
        parse_options([f"--max-turns={text}"])


@pytest.mark.parametrize(
    ("words", "resume"), [(["--resume", "0193"], "0193"), (["-r"], ""), (["--resume=x y"], "x y")]
)
def test_resume_takes_an_id_or_nothing(words: list[str], resume: str) -> None:
    assert parse_options(words).resume == resume


@pytest.mark.parametrize("words", [["-c", "--fork"], ["--fork-session", "-c"], ["--fork", "--resume=x"]])
def test_a_fork_goes_with_what_it_copies(words: list[str]) -> None:
    assert parse_options(words).fork


@pytest.mark.parametrize("words", [["--fork"], ["--fork", "-s", SESSION_ID], ["--fork", "--follow"]])
def test_a_fork_of_nothing_says_what_is_missing(words: list[str]) -> None:
    with pytest.raises(UsageError, match="needs a session to copy"):
        parse_options(words)


@pytest.mark.parametrize(("words", "follow"), [(["--follow"], ""), (["--follow=x y"], "x y"), ([], None)])
def test_follow_takes_an_id_or_nothing(words: list[str], follow: str | None) -> None:
    assert parse_options(words).follow == follow


@pytest.mark.parametrize("words", [["--follow", "-p", "x"], ["--follow=x", "do it"], ["--follow=x", "-"]])
def test_following_takes_no_prompt(words: list[str]) -> None:
    with pytest.raises(UsageError, match="only watches"):
        parse_options(words)


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "-r", "0193"],
        ["-c", "-s", SESSION_ID],
        ["--no-save", "-c"],
        ["--no-save", "--resume=x"],
        ["-c", "--follow"],
    ],
)
def test_ways_to_choose_a_session_exclude_each_other(words: list[str]) -> None:
    with pytest.raises(UsageError, match="exclude"):
        parse_options(words)


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["-c", "--follow"], "--follow alone watches this folder's session that runs"),
        (["--resume=x", "--follow"], "--follow=ID"),
        (["-c", "--resume=x"], "give one of them"),
    ],
)
def test_who_asks_for_two_ways_hears_which_one_does_it(words: list[str], instead: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(words)
    assert instead in caught.value.hint


def test_a_wrong_format_lists_the_right_ones() -> None:
    with pytest.raises(UsageError, match="streaming-json"):
        parse_options(["--output-format", "yaml"])


def test_help_is_short_or_all() -> None:
    assert parse_options(["--help"]).help == "short"
    assert parse_options(["--help", "all"]).help == "all"
    with pytest.raises(UsageError, match="no help on 'cooking'"):
        parse_options(["--help", "cooking"])


def test_a_session_id_must_be_one() -> None:
    assert parse_options(["-s", SESSION_ID]).session_id == SESSION_ID
    with pytest.raises(UsageError, match="UUID"):
        parse_options(["-s", "abc"])


def test_bytes_that_are_no_text_become_a_mark_in_texts_and_stay_in_paths() -> None:
    word = b"caf\xe9".decode("utf-8", "surrogateescape")
    found = parse_options(["-p", word, "--model", word, "--cwd", word, f"--resume={word}"])
    assert (found.prompt, found.model, found.resume) == ("caf\ufffd",) * 3
    assert found.cwd == word


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("session", "did you mean grokmini sessions?"),
        ("sesions", "did you mean grokmini sessions?"),
        ("Sessions", "did you mean grokmini sessions?"),
        ("doctr", "did you mean grokmini doctor?"),
        ("model", "did you mean grokmini models?"),
        ("logs", "did you mean grokmini log?"),
        ("completoin", "did you mean grokmini completions?"),
        ("help", "did you mean grokmini --help?"),
        ("version", "did you mean grokmini --version?"),
        ("resume", "did you mean grokmini --resume, or grokmini --continue for this folder's latest?"),
        ("login", "XAI_API_KEY"),
        ("init", "nothing has to be set up"),
        ("update", "install it again"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_a_word_alone_that_is_nearly_a_command_is_no_prompt(word: str, advice: str, options: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options([*options, word])
    assert caught.value.message == f"there is no command {word!r}"
    assert advice in caught.value.hint
    assert caught.value.hint.endswith(f"\nas a prompt: grokmini -- {word}")


def test_a_command_behind_an_option_is_told_where_it_goes() -> None:
    with pytest.raises(UsageError, match="sessions") as caught:
        parse_options(["--debug", "sessions"])
    assert "did you mean grokmini sessions?" in caught.value.hint


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["session", "list"], "did you mean grokmini sessions?\nas a prompt: grokmini 'session list'"),
        (["help", "log"], "did you mean grokmini log --help?\nas a prompt: grokmini 'help log'"),
    ],
)
def test_words_of_which_the_first_is_nearly_a_command_are_told_so(words: list[str], advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(words)
    assert caught.value.hint == advice


@pytest.mark.parametrize(
    "word",
    [
        "hello",
        "continue",
        "go",
        "yes",
        "fix",
        "test",
        "explain",
        "why?",
        "keep",
        "done",
        "confirm",
        "dog",
        "lot",
    ],
)
def test_an_ordinary_word_alone_is_a_prompt(word: str) -> None:
    assert parse_options([word]) == Options(prompt=word)


@pytest.mark.parametrize(
    ("words", "prompt"),
    [
        (["--", "session"], "session"),
        (["-p", "session"], "session"),
        (["session", "-p"], "session"),
        (["session please"], "session please"),
        (["help me with the login"], "help me with the login"),
    ],
)
def test_a_word_that_is_said_to_be_a_prompt_is_one(words: list[str], prompt: str) -> None:
    assert parse_options(words).prompt == prompt
