/** Text that a keychain cannot hold unchanged is stored after this mark, as base64 of its UTF-8. */
const MARK = 'lifeboat-base64:';

/**
 * Printable ASCII without a backslash and without a space at either end. gnome-keyring writes a keyring
 * without a password as a text file of `key=value` lines, which it reads with GLib: a line end makes the
 * whole file unreadable, including the secrets of every other program; leading spaces are lost, and a
 * backslash begins an escape.
 */
const FIT = /^[!-[\]-~](?:[ -[\]-~]*[!-[\]-~])?$/u;

/** The single line in which a keychain stores a text; always the same for the same text. */
export function inOneLine(text: string): string {
  if (FIT.test(text) && !text.startsWith(MARK)) return text;
  return MARK + Buffer.from(text, 'utf8').toString('base64');
}

/**
 * The text that a keychain stores as this line. A line that `inOneLine` would not write is taken literally.
 */
export function fromOneLine(line: string): string {
  if (!line.startsWith(MARK)) return line;
  const text = Buffer.from(line.slice(MARK.length), 'base64').toString('utf8');
  return text !== '' && inOneLine(text) === line ? text : line;
}
