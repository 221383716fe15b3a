# bash completion for grokmini
# Made by grokmini 0.1.0 from its own tables; changes are overwritten.
_grokmini_look_up() {  # KIND: ids with their titles, or titles quoted as the word that is typed
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
}
_grokmini() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} name= words=
  COMPREPLY=()
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  case $prev in
    -m|--model) _grokmini_look_up models; return ;;
    --cwd) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    -r|--resume) _grokmini_look_up sessions; return ;;
    --follow) _grokmini_look_up live-sessions; return ;;
    --permission-mode) COMPREPLY=($(compgen -W 'ask accept-edits plan auto always-approve' -- "$cur")); return ;;
    --sandbox) COMPREPLY=($(compgen -W 'off workspace read-only strict devbox' -- "$cur")); return ;;
    --output-format) COMPREPLY=($(compgen -W 'plain json stream-json streaming-json' -- "$cur")); return ;;
    --format) COMPREPLY=($(compgen -W 'ansi plain markdown json' -- "$cur")); return ;;
    --color|--colour) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
    --profile|--sandbox) COMPREPLY=($(compgen -W 'off workspace read-only strict devbox' -- "$cur")); return ;;
  esac
  [ "$COMP_CWORD" -gt 1 ] && name=${COMP_WORDS[1]}
  [ "$COMP_CWORD" -gt 2 ] && case "$name ${COMP_WORDS[2]}" in
    'sessions search'|'sessions rename'|'sessions pin'|'sessions unpin'|'sessions delete'|'sessions fork'|'sessions repair'|'sandbox explain'|'sandbox run'|'sandbox check'|'sandbox trust'|'completions install'|'completions words') name="$name ${COMP_WORDS[2]}" ;;
  esac
  case $name in
    'demo') words='-h --help' ;;
    'doctor') words='-m --model -h --help' ;;
    'models') words='--json -h --help' ;;
    'config') words='--json -h --help' ;;
    'prompt') words='--dump --concise -h --help' ;;
    'sessions') words='-a --all --json --limit -h --help search rename pin unpin delete fork repair' ;;
    'sessions search') words='--here --json --limit -h --help' ;;
    'sessions rename') words='-h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sessions pin') words='-h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sessions unpin') words='-h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sessions delete') words='-y --yes -h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sessions fork') words='--before --cwd -m --model -h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sessions repair') words='-a --all -h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'log') words='--format --tail -f --follow --color --colour -h --help'; case $cur in -*) ;; *) _grokmini_look_up sessions ;; esac ;;
    'sandbox') words='-h --help explain run check trust' ;;
    'sandbox explain') words='--profile --sandbox -h --help' ;;
    'sandbox run') words='--profile --sandbox --best-effort --sandbox-best-effort -h --help' ;;
    'sandbox check') words='--profile --sandbox -h --help' ;;
    'sandbox trust') words='-h --help' ;;
    'keys') words='-h --help' ;;
    'completions') words='-h --help bash zsh fish install words' ;;
    'completions install') words='--force -h --help bash zsh fish' ;;
    'completions words') words='-h --help' ;;
    '') words='-p --print --single -m --model --cwd -c --continue -r --resume --fork --fork-session --follow -s --session-id --no-save --permission-mode --yolo --always-approve --dangerously-skip-permissions --allow --allowedTools --deny --sandbox --sandbox-best-effort --output-format --max-turns --tools --disallowed-tools --plain --debug -V --version -v -h --help demo doctor models config prompt sessions log sandbox keys completions' ;;
    *) words='-p --print --single -m --model --cwd -c --continue -r --resume --fork --fork-session --follow -s --session-id --no-save --permission-mode --yolo --always-approve --dangerously-skip-permissions --allow --allowedTools --deny --sandbox --sandbox-best-effort --output-format --max-turns --tools --disallowed-tools --plain --debug -V --version -v -h --help' ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _grokmini grokmini
