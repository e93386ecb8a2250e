import { OPENING } from './opening.ts';
import { SENDING } from './sending.ts';

/**
 * The functions at the head of every fallback script. They are for any bash from 3.2 on, need only curl,
 * openssl, gunzip, tar, sed and tr, and are short enough to be read by whoever has to trust them. Answers are
 * read from stdin, line by line.
 */
export const HELPERS = String.raw`set -u
umask 077
PAUSE=${'$'}{PAUSE:-5}
W=$(mktemp -d "${'$'}{TMPDIR:-/tmp}/fallback.XXXXXX") || exit 1
trap 'rm -rf "$W"' EXIT
trap 'exit 130' HUP INT TERM

say() { printf '%s\n' "$@"; }

# Reads one line; when there are no more, the script ends.
answer() { printf '> '; IFS= read -r ANSWER || { say '' 'no more answers: stopped here'; exit 3; }; }
stop() { say 'stopped; start this script again whenever you want, and skip what is done'; exit 3; }

# step NUMBER TITLE NOTE...: true when the step is to be done.
step() {
  say '' "== step $1: $2 ==" "${'$'}{@:3}"
  while :; do
    say 'Enter: do it.  skip: it is done, or not wanted.  stop: leave the script.'
    answer
    case $ANSWER in '') return 0 ;; skip) return 1 ;; stop) stop ;; esac
  done
}

# ask NAME WHAT [SUGGESTED]: a value that is not secret, unless it is known already.
ask() {
  while [ -z "${'$'}{!1:-}" ]; do
    say "$2${'$'}{3:+ (Enter takes $3)}"
    answer
    printf -v "$1" '%s' "${'$'}{ANSWER:-${'$'}{3:-}}"
  done
}

# ask_secret NAME WHAT: the same for a secret; it is not shown.
ask_secret() {
  while [ -z "${'$'}{!1:-}" ]; do
    printf '%s (not shown)> ' "$2"
    IFS= read -rs ANSWER || { say '' 'no more answers: stopped here'; exit 3; }
    say ''
    case $ANSWER in
      *[[:cntrl:]]*) say 'it holds a control character, so it is not taken' ;;
      *) printf -v "$1" '%s' "$ANSWER" ;;
    esac
    ANSWER=
  done
}

# choose_key NAME WHAT FILE: a new encryption key, typed, or made here into a file that only you can read.
choose_key() {
  while [ -z "${'$'}{!1:-}" ]; do
    say "$2" 'make: a new one, into a file here.  type: you type one that you have.'
    answer
    case $ANSWER in
      make)
        if [ ! -s "$3" ]; then openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n' > "$3"; fi
        printf -v "$1" '%s' "$(cat "$3")"
        say "it is in $3: keep it in two safe places, then delete the file" ;;
      type) ask_secret "$1" 'the new key' ;;
      stop) stop ;;
    esac
  done
}

# confirm_name NAME WHAT: only the name itself goes on.
confirm_name() {
  while :; do
    say "$2" "Type the name $1 to go on, or stop."
    answer
    [ "$ANSWER" = "$1" ] && return 0
    [ "$ANSWER" = stop ] && stop
    say 'That is not the name.'
  done
}

# failed WHAT: true to try once more, false to go on without it.
failed() {
  while :; do
    say "$1" 'again: try once more.  on: go on without it.  stop: leave the script.'
    answer
    case $ANSWER in again) return 0 ;; on) return 1 ;; stop) stop ;; esac
  done
}

# run COMMAND ARGUMENT...: shows a command, runs it, and asks when it fails.
run() {
  while :; do
    printf '$'; printf ' %q' "$@"; say ''
    "$@" < /dev/null && return 0
    failed 'The command failed.' || return 1
  done
}

# run_or WHEN COUNT COMMAND ARGUMENT... OTHER ARGUMENT...: the same; when the first COUNT words fail, the
# others can be taken.
run_or() {
  local when=$1 count=$2
  shift 2
  while :; do
    printf '$'; printf ' %q' "${'$'}{@:1:count}"; say ''
    "${'$'}{@:1:count}" < /dev/null && return 0
    say 'The command failed.' "$when"
    printf 'other: this instead:'; printf ' %q' "${'$'}{@:count+1}"; say ''
    say 'again: try once more.  on: go on without it.  stop: leave the script.'
    answer
    case $ANSWER in
      other) shift "$count"; run "$@"; return ;;
      on) return 1 ;;
      stop) stop ;;
    esac
  done
}

# by_hand WHAT LINE...: something that only a person can do.
by_hand() { say "$@" 'Enter when it is done.'; answer; }

${SENDING}
${OPENING}`;
