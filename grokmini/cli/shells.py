"""Completion scripts for bash, zsh and fish. Static: completing starts no Python, opens nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from grokmini.cli.option import HELP, CommandSpec, Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS


def bash() -> str:
    """The script for bash."""
    cases = "\n".join(
        f"    {name}) words={_quoted([*_names(spec.options), *spec.choices])} ;;" for name, spec in _specs()
    )
    values = "\n".join(
        f'    {"|".join(option.names)}) COMPREPLY=($(compgen {_bash_words(option)} -- "$cur")); return ;;'
        for option in _all_options()
        if option.folder or _values(option)
    )
    return f"""# bash completion for grokmini
_grokmini() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words
  case $prev in
{values}
  esac
  case ${{COMP_WORDS[1]}} in
{cases}
    *) words={_quoted(_names(OPTIONS))}
       [ "$COMP_CWORD" -eq 1 ] && words="$words {" ".join(COMMANDS)}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _grokmini grokmini
"""


def zsh() -> str:
    """The script for zsh."""
    commands = "\n".join(f"    {_quoted([f'{name}:{summary}'])}" for name, (_, summary) in COMMANDS.items())
    cases = "\n".join(
        f"    {name}) _arguments {' '.join([*map(_zsh_option, (*spec.options, HELP)), _zsh_words(spec)])} ;;"
        for name, spec in _specs()
    )
    options = " \\\n    ".join(_zsh_option(option) for option in OPTIONS)
    return f"""#compdef grokmini
_grokmini() {{
  local -a commands
  commands=(
{commands}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  local name=$words[2]
  case $name in
    {"|".join(COMMANDS)}) shift words; (( CURRENT-- )) ;;
  esac
  case $name in
{cases}
    *) _arguments \\
    {options} \\
    '*:prompt:' ;;
  esac
}}
if [ "$funcstack[1]" = _grokmini ]; then _grokmini "$@"; else compdef _grokmini grokmini; fi
"""


def fish() -> str:
    """The script for fish."""
    names = " ".join(COMMANDS)
    lines = ["# fish completion for grokmini", "complete -c grokmini -f"]
    top = f"not __fish_seen_subcommand_from {names}"
    for name, (_, summary) in COMMANDS.items():
        lines.append(f"complete -c grokmini -n '__fish_is_first_arg' -a {name} -d {_quoted([summary])}")
    lines += [_fish_option(top, option) for option in OPTIONS]
    for name, spec in _specs():
        used = f"__fish_seen_subcommand_from {name}"
        lines += [_fish_option(used, option) for option in (*spec.options, HELP)]
        if spec.choices:
            lines.append(f"complete -c grokmini -n '{used}' -a {_quoted(spec.choices)}")
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _specs() -> Iterator[tuple[str, CommandSpec]]:
    for name, (module, _) in COMMANDS.items():
        yield name, import_module(module).SPEC


def _all_options() -> list[Option]:
    """Every option once; a subcommand's option of the same name takes the same words."""
    found = list(OPTIONS)
    for _, spec in _specs():
        found += [option for option in spec.options if option.names not in [known.names for known in found]]
    return found


def _names(options: tuple[Option, ...]) -> list[str]:
    names = [name for option in options for name in option.names]
    return names if HELP.names[0] in names else [*names, *HELP.names]


def _values(option: Option) -> tuple[str, ...]:
    return option.choices or option.suggestions


def _bash_words(option: Option) -> str:
    return "-d" if option.folder else f"-W {_quoted(_values(option))}"


def _quoted(words: tuple[str, ...] | list[str]) -> str:
    """One single-quoted word of any of the three shells, out of texts of our own tables."""
    return "'" + " ".join(words).replace("'", "’") + "'"


def _zsh_option(option: Option) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
    takes = ""
    if option.kind != "flag":
        values = " ".join(_values(option))
        action = "_files -/" if option.folder else f"({values})" if values else ""
        takes = f"{'::' if option.kind == 'maybe' else ':'}{option.value.lower()}:{action}"
    many = "*" if option.kind == "repeat" else ""
    return " ".join(_quoted([f"{many}{name}[{text}]{takes}"]) for name in option.names)


def _zsh_words(spec: CommandSpec) -> str:
    return _quoted([f"*:{spec.words.lower() or 'nothing'}:({' '.join(spec.choices)})"])


def _fish_option(condition: str, option: Option) -> str:
    parts = [f"complete -c grokmini -n '{condition}'"]
    parts += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.folder:
        parts.append("-x -a '(__fish_complete_directories)'")
    elif _values(option):
        parts.append(f"-x -a {_quoted(_values(option))}")
    elif option.kind in ("value", "repeat"):
        parts.append("-x")
    parts.append(f"-d {_quoted([option.help])}")
    return " ".join(parts)
