"""The completion script for zsh: sourced, or autoloaded from a folder of `fpath`."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini.cli.command_tree import CommandLine, command_lines
from grokmini.cli.made_by import made_by
from grokmini.cli.option import Completed, Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS

LOOK_UP = r"""_grokmini_look_up() {
  local line
  local -a named titles
  # What _arguments hands over for the listing comes first, the kind last.
  for line in ${(f)"$(command grokmini completions words ${@[-1]} ${(Q)PREFIX} 2>/dev/null)"}; do
    if [[ $line == *$'\t'* ]]; then named+=("${line%%$'\t'*}:${line#*$'\t'}"); else titles+=("$line"); fi
  done
  (( $#named )) && _describe -V ${@[-1]} named
  (( $#titles )) && compadd -U -V titles -a titles
}"""


def zsh() -> str:
    """The script."""
    lines = command_lines()
    parents = [line for line in lines if line.spec.commands]
    return f"""#compdef grokmini
# {made_by()}
{LOOK_UP}
_grokmini() {{
  local -a commands
  local name=
  commands=(
{_rows((name, summary) for name, (_, summary) in COMMANDS.items())}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  case $words[2] in
    {"|".join(COMMANDS)}) name=$words[2]; shift words; (( CURRENT-- )) ;;
  esac
{chr(10).join(map(_nested, parents))}
  case $name in
{chr(10).join(map(_case, lines))}
    *) _arguments \\
    {f" {chr(92)}{chr(10)}    ".join(_options(OPTIONS))} \\
    '*:prompt:' ;;
  esac
}}
if [ "$funcstack[1]" = _grokmini ]; then _grokmini "$@"; else compdef _grokmini grokmini; fi
"""


def _nested(line: CommandLine) -> str:
    """A command that has commands: they are offered first, and one that is there is gone into."""
    rows = _rows((row.name, row.summary) for row in line.spec.commands)
    choices = f"compadd {' '.join(line.spec.choices)}; " if line.spec.choices else ""
    return f"""  if [[ $name == {line.name} ]]; then
    commands=(
{rows}
    )
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
      {choices}_describe command commands
      return
    fi
    case $words[2] in
      {"|".join(row.name for row in line.spec.commands)}) name="$name $words[2]"; shift words; (( CURRENT-- )) ;;
    esac
  fi"""


def _case(line: CommandLine) -> str:
    spec = line.spec
    action = _action(spec.choices, spec.completes)
    free = f" {_quoted(f'*:{spec.words.lower()}:{action}')}" if spec.words else ""
    return f"    {_quoted(line.name)}) _arguments {' '.join(_options(line.options))}{free} ;;"


def _options(options: Iterable[Option]) -> list[str]:
    return [_option(option) for option in options]


def _option(option: Option) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
    takes = ""
    if option.kind != "flag":
        action = _action(option.choices or option.suggestions, option.completes)
        takes = f"{'::' if option.kind == 'maybe' else ':'}{option.value.lower()}:{action}"
    many = "*" if option.kind == "repeat" else ""
    equal = "=" if option.kind != "flag" else ""
    return " ".join(
        _quoted(f"{many}{name}{equal if name.startswith('--') else ''}[{text}]{takes}") for name in option.names
    )


def _action(known: Iterable[str], completes: Completed) -> str:
    if completes == "folders":
        return "_files -/"
    if completes:
        return f"_grokmini_look_up {completes}"
    words = " ".join(known)
    return f"({words})" if words else ""


def _rows(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"    {_quoted(f'{name}:{summary}')}" for name, summary in pairs)


def _quoted(text: str) -> str:
    """One single-quoted word, out of texts of our own tables."""
    return "'" + text.replace("'", "’") + "'"
