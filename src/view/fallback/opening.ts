/** The functions of the fallback script that download a backup and read it to its last byte. */
export const OPENING = String.raw`
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

# decrypt FILE DIGEST...: with the key that lies in $W/key.
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
      '0 0 '*) how='intact: decrypted and unzipped to its end; its content is no tar' ;;
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
