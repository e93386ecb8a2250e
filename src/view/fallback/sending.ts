/**
 * The functions of the fallback script that talk with the service. Tokens reach curl by a private file,
 * bodies by stdin.
 */
export const SENDING = String.raw`# sign_in SIDE: a token, and with it the settings of curl for that side, in a private file.
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
