"""The completion script for bash 3.2 and later."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini.cli.command_tree import CommandLine, command_lines, every_option
from grokmini.cli.made_by import made_by
from grokmini.cli.option import Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS

LOOK_UP = r"""_grokmini_look_up() {  # KIND: ids with their titles, or titles quoted as the word that is typed
  local line quote= typed=${cur//\\/} found=()
  case $cur in
    [\"\']*) quote=${cur:0:1} typed=${cur:1} ;;
  esac
  while IFS= read -r line; do found+=("$line"); done < <(command grokmini completions words "$1" "$typed" 2>/dev/null)
  for line in "${found[@]}"; do
    if [ "${line%%$'\t'*}" != "$line" ]; then
      if [ ${#found[@]} -gt 1 ] && [ "$COMP_TYPE" != 37 ] && [ "$COMP_TYPE" != 42 ]; then
        COMPREPLY+=("${line%%$'\t'*}  ${line#*$'\t'}")  # they are shown; none is the beginning of another
      else
        COMPREPLY+=("${line%%$'\t'*}")
      fi
    elif [ -z "$quote" ]; then
      COMPREPLY+=("$(printf %q "$line")")
    else
      case $line in *[\"\'\\\$\`!]*) ;; *) COMPREPLY+=("$line") ;; esac
    fi
  done
}"""


def bash() -> str:
    """The script."""
    lines = command_lines()
    nested = "|".join(f"'{line.name}'" for line in lines if len(line.path) > 1)
    values = "\n".join(
        f"    {'|'.join(option.names)}) {_look_up(option)}; return ;;"
        for option in every_option()
        if _look_up(option)
    )
    return f"""# bash completion for grokmini
# {made_by()}
{LOOK_UP}
_grokmini() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} name= words=
  COMPREPLY=()
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  case $prev in
{values}
  esac
  [ "$COMP_CWORD" -gt 1 ] && name=${{COMP_WORDS[1]}}
  [ "$COMP_CWORD" -gt 2 ] && case "$name ${{COMP_WORDS[2]}}" in
    {nested}) name="$name ${{COMP_WORDS[2]}}" ;;
  esac
  case $name in
{chr(10).join(map(_case, lines))}
    '') words={_quoted([*_names(OPTIONS), *COMMANDS])} ;;
    *) words={_quoted(_names(OPTIONS))} ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _grokmini grokmini
"""


def _case(line: CommandLine) -> str:
    """What may follow one command; what is looked up is looked up only where no option begins."""
    spec = line.spec
    words = _quoted([*_names(line.options), *spec.choices, *(row.name for row in spec.commands)])
    look_up = f"; case $cur in -*) ;; *) _grokmini_look_up {spec.completes} ;; esac" if spec.completes else ""
    return f"    '{line.name}') words={words}{look_up} ;;"


def _look_up(option: Option) -> str:
    """The command that completes the word of an option; empty when nothing is known of it."""
    known = option.choices or option.suggestions
    if option.completes == "folders":
        return 'COMPREPLY=($(compgen -d -- "$cur"))'
    if option.completes:
        return f"_grokmini_look_up {option.completes}"
    return f'COMPREPLY=($(compgen -W {_quoted(known)} -- "$cur"))' if known else ""


def _names(options: Iterable[Option]) -> list[str]:
    return [name for option in options for name in option.names]


def _quoted(words: Iterable[str]) -> str:
    """One single-quoted word, out of texts of our own tables."""
    return "'" + " ".join(words).replace("'", "’") + "'"
