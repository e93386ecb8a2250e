/** They call the service. Tokens reach curl through a private file, bodies through stdin. */
const SENDING = String.raw`# sign_in SIDE: a token, and with it the settings of curl for that side, in a private file.
sign_in() {
  local token='' how ca=''
  case $1 in target) how=$TARGET_TOKEN ca=$TARGET_CA ;; *) how=$INSTANCE_TOKEN ca=$INSTANCE_CA ;; esac
  while :; do
    if [ -n "$SIGNED_BY_CF" ] && [ -n "$TRY_CF" ]; then TRY_CF= token=$(cf oauth-token < /dev/null)
    else
      printf 'access token for the %s, from: %s (not shown; Enter runs cf oauth-token)> ' "$1" "$how"
      IFS= read -rs token || { say '' 'no more answers: stopped here'; exit 3; }
      say ''
      SIGNED_BY_CF=
      if [ -z "$token" ]; then SIGNED_BY_CF=yes token=$(cf oauth-token < /dev/null); fi
    fi
    token=$(printf '%s\n' "$token" | tail -n 1)
    case $token in
      '' | *[!A-Za-z0-9\ ._~+/=:-]*) say 'that is not a token' ;;
      *' '*) break ;;
      *) token="bearer $token"; break ;;
    esac
  done
  printf 'header = "Authorization: %s"\n' "$token" > "$W/$1.curl"
  if [ -n "$ca" ]; then printf 'cacert = "%s"\n' "$(json "$ca")" >> "$W/$1.curl"; fi
}
SIGNED_BY_CF= TRY_CF=

# json TEXT: the text as it stands between the quotes of JSON.
json() { printf '%s' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g'; }

# digits TEXT: a number in JSON.
digits() { printf '%s' "$1" | LC_ALL=C tr -cd '0-9'; }

# send SIDE ARGUMENT...: curl with the token and cookies of that side, without any retry.
send() {
  curl --config "$W/$1.curl" --silent --show-error --globoff --http1.1 --retry 0 \
    --cookie "$W/$1.jar" --cookie-jar "$W/$1.jar" --connect-timeout 20 --max-time 120 \
    --output "$W/answer" --write-out '%{http_code}' "${'$'}{@:2}"
}

# request SIDE METHOD URL [BODY]: one request, sent once. Its status is in $STATUS, 000 without an answer;
# its answer is in $W/answer.
request() {
  local follow=--no-location
  case $3 in *[!]A-Za-z0-9:/._~%[-]*) say 'that is not an address'; STATUS=000; return ;; esac
  case $2$3 in GET*/service-instances/*) follow=--location ;; esac
  [ -s "$W/$1.curl" ] || sign_in "$1"
  TRY_CF=yes
  while :; do
    : > "$W/answer"
    if [ "$#" -gt 3 ]; then
      STATUS=$(printf '%s' "$4" | send "$1" "$follow" --request "$2" --data-binary @- \
        --header 'Content-Type: application/json' "$3")
    else
      STATUS=$(send "$1" "$follow" --request "$2" "$3" < /dev/null)
    fi
    say "$2 $3 -> $STATUS"
    [ "$STATUS" = 401 ] || return 0
    say 'The service refuses the token (401); nothing was done.'
    sign_in "$1"
  done
}

# What came back: an object a line, without anything that could act on a terminal.
show_answer() {
  head -c 40000 "$W/answer" | LC_ALL=C tr -c '\11\12\40-\176' '?' | sed -e 's/},/},\
/g'
  say ''
}
fields() {
  tr ',{}' '\n\n\n' < "$W/answer" \
    | sed -n 's/^[^"]*"'"$1"'"[[:space:]]*:[[:space:]]*"\{0,1\}\([^"]*\).*/\1/p'
}
# field NAME: the first field of that name in the answer.
field() { fields "$1" | head -n 1 | LC_ALL=C tr -cd 'A-Za-z0-9:._+-'; }
# newest: the highest id in a list.
newest() { fields id | LC_ALL=C tr -cd '0-9\n' | sort -n | tail -n 1; }

# call SIDE METHOD URL [BODY]: a call that may be made again.
call() {
  while :; do
    request "$@"
    show_answer
    case $STATUS in 2??) return 0 ;; esac
    failed 'The call failed.' || return 1
  done
}

# keep NAME FIELD: a field of the answer into a variable.
keep() { printf -v "$1" '%s' "$(field "$2")"; }

# once SIDE METHOD URL LIST NAME FIELD LOOK [BODY]: a call that must not be made twice. It is sent only for
# a typed yes.
once() {
  local side=$1 method=$2 url=$3 list=$4 name=$5 kept=$6 look=$7 before='' left
  shift 7
  while :; do
    say '' 'LOOK FIRST: was it made already?'
    request "$side" GET "$list"
    show_answer
    case $STATUS in
      2??) before=$(newest); before=${'$'}{before:-0} ;;
      *) say 'THE LIST CANNOT BE READ. If you send now, it may be sent twice.' ;;
    esac
    say "$look"
    local made='done: it was made already.'
    if [ -n "$name" ]; then made='A number: it was made already, and this is its id.'; fi
    say "yes: send $method $url.  $made  look: look again.  stop: leave the script."
    answer
    case $ANSWER in
      yes) ;;
      stop) stop ;;
      done) if [ -z "$name" ]; then return 0; fi; continue ;;
      '' | *[!0-9]*) say 'Nothing was sent.'; continue ;;
      *)
        if [ -z "$name" ]; then continue; fi
        if [ -n "$before" ] && ! fields id | grep -qx "$ANSWER"; then
          say "There is no $ANSWER in the list. Nothing was sent."
          continue
        fi
        printf -v "$name" '%s' "$ANSWER"
        return 0 ;;
    esac
    request "$side" "$method" "$url" "$@"
    show_answer
    case $STATUS in
      2??) break ;;
      400 | 403 | 404 | 405 | 412 | 422) say 'The service refuses it: nothing was done.' ;;
      *)
        say 'IN DOUBT: the service may have accepted it, although no clear answer came.' \
          'It can show up within 15 minutes.' ;;
    esac
  done
  if [ -z "$name" ]; then return 0; fi
  keep "$name" "$kept"
  left=24
  while [ -z "${'$'}{!name}" ] && [ -n "$before" ] && [ "$left" -gt 0 ]; do
    request "$side" GET "$list"
    case $STATUS in
      2??)
        if [ "$(newest)" -gt "$before" ] 2> /dev/null; then printf -v "$name" '%s' "$(newest)"; fi ;;
    esac
    left=$((left - 1))
    [ -n "${'$'}{!name}" ] || sleep "$PAUSE"
  done
  ask "$name" 'The answer names no id: type the id that is new in the list.'
  say "its id is ${'$'}{!name}"
}

# wait_task SIDE URL WHAT: until the task has ended.
wait_task() {
  local status left=60
  while :; do
    request "$1" GET "$2"
    status=$(field status)
    say "$3: ${'$'}{status:-not reported}"
    case $STATUS:$status in
      2??:done) show_answer; return 0 ;;
      2??:failed | 2??:deleted) failed "The service says: $status. It gives no reason." || return 1 ;;
      4??:*) failed "The service does not know the $3 (yet)." || return 1 ;;
    esac
    left=$((left - 1))
    if [ "$left" -le 0 ]; then failed "Still not done: $3." || return 1; left=60; fi
    sleep "$PAUSE"
  done
}

# wait_instance SIDE URL [SINCE]: until it is available, and with SINCE until it has been changed after that.
wait_instance() {
  local state left=60
  while :; do
    request "$1" GET "$2"
    state=$(field state)
    say "the $1 is ${'$'}{state:-not reported}, changed at $(field updated_at)"
    case $STATUS:$state in
      2??:available | 2??:provisioned)
        if [ -z "${'$'}{3:-}" ] || [ "$(field updated_at)" != "$3" ]; then return 0; fi ;;
      2??:failed | 2??:deleted) failed "The service says: $state." || return 1 ;;
    esac
    left=$((left - 1))
    if [ "$left" -le 0 ]; then failed 'It is not available, or shows no change.' || return 1; left=60; fi
    sleep "$PAUSE"
  done
}
`;

/**
 * The head of every fallback script. Runs in bash from 3.2 on; needs only curl, openssl, gunzip, tar, sed and
 * tr; short enough to be reviewed before use. Answers are read from stdin, line by line.
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
