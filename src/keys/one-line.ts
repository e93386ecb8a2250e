/** What is not fit for a keychain as it is lies there behind this mark, in base64 of its UTF-8. */
const MARK = 'lifeboat-base64:';

/**
 * Printable ASCII without a backslash, no space at either end: gnome-keyring writes a keyring without a
 * password as a text file of `key=value` lines, and reads it again as GLib does. A line end makes the whole
 * file unreadable, with the secrets of every other program in it; spaces at the front are lost, and a
 * backslash begins an escape.
 */
const FIT = /^[!-[\]-~](?:[ -[\]-~]*[!-[\]-~])?$/u;

/** The one line in which a keychain keeps a text; the same for the same text. */
export function inOneLine(text: string): string {
  if (FIT.test(text) && !text.startsWith(MARK)) return text;
  return MARK + Buffer.from(text, 'utf8').toString('base64');
}

/** The text that a keychain keeps as this line. What `inOneLine` does not write is a text as it is. */
export function fromOneLine(line: string): string {
  if (!line.startsWith(MARK)) return line;
  const text = Buffer.from(line.slice(MARK.length), 'base64').toString('utf8');
  return text !== '' && inOneLine(text) === line ? text : line;
}
