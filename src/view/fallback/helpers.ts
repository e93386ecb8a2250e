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

# fetch SIDE FILE METHOD URL...: downloads by the first way that gives a backup. A file that is there already
# is kept.
fetch() {
  local side=$1 file=$2 status
  shift 2
  if [ -s "$file" ]; then say "$file is here already"; return 0; fi
  [ -s "$W/$side.curl" ] || sign_in "$side"
  while [ "$#" -gt 1 ]; do
    case $2 in *[!]A-Za-z0-9:/._~%[-]*) say 'that is not an address'; return 1 ;; esac
    status=$(curl --config "$W/$side.curl" --silent --show-error --globoff --location \
      --cookie "$W/$side.jar" --cookie-jar "$W/$side.jar" --connect-timeout 20 --output "$file.part" \
      --write-out '%{http_code}' --request "$1" "$2" < /dev/null) || status="broken off ($status)"
    say "$1 $2 -> $status"
    if [ "$status" = 401 ]; then TRY_CF=yes; sign_in "$side"; continue; fi
    if [ "$status" = 200 ] && [ "$(head -c 8 "$file.part")" = Salted__ ]; then
      mv "$file.part" "$file"
      return 0
    fi
    shift 2
  done
  rm -f "$file.part"
  say 'no download worked: check in the dashboard whether downloads are switched off'
  return 1
}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"
  elif command -v shasum > /dev/null; then shasum -a 256 "$1"
  else openssl dgst -sha256 "$1"; fi
}

# decrypt FILE DIGEST...: with the key that is in $W/key.
decrypt() { openssl enc -d -aes-256-cbc "${'$'}{@:2}" -pass "file:$W/key" -in "$1" 2> /dev/null; }

# open_file FILE KEY: decrypts, unzips and lists it; true when every program of the pipe succeeded to the
# last byte.
open_file() {
  local digest ends how=''
  printf '%s\n' "$2" > "$W/key"
  for digest in '-md md5' '-md sha256' '-pbkdf2'; do
    # shellcheck disable=SC2086
    decrypt "$1" $digest | gunzip -c 2> /dev/null \
      | { tar -tf - > "$W/list" 2> /dev/null; ends=$?; cat > /dev/null; exit "$ends"; }
    ends="${'$'}{PIPESTATUS[*]}"
    case $ends in
      '0 0 0') how="readable: $(wc -l < "$W/list" | tr -d ' ') entries in its tar" ;;
      '0 0 '*) how='intact: decrypted and unzipped to its end; its content is not a tar' ;;
      *) continue ;;
    esac
    break
  done
  rm -f "$W/key"
  if [ -z "$how" ]; then
    say "this key does not open $1, or the file is damaged" \
      "the file has $(wc -c < "$1" | tr -d ' ') bytes: compare that with the size that the service reports"
    return 1
  fi
  say "$how (openssl enc -d -aes-256-cbc $digest)"
  head -n 5 "$W/list" | LC_ALL=C tr -c '\12\40-\176' '?'
  sha256 "$1"
}
`;
