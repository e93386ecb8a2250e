import { show } from '../base/text.ts';

/*
 * What a terminal does besides drawing, by the sequences of xterm ("XTerm Control Sequences", Operating
 * System Commands) and of iTerm2 (OSC 9). A terminal that does not know one ignores it.
 */

/** Puts the title of the window on the stack of the terminal, and takes it back from there. */
export const SAVE_TITLE = '\u001b[22;2t';
export const RESTORE_TITLE = '\u001b[23;2t';

export const BELL = '\u0007';

/** Names the window. */
export function titled(text: string): string {
  return `\u001b]2;${clean(text)}\u0007`;
}

/** A notification of the desktop. */
export function notified(text: string): string {
  return `\u001b]9;${clean(text)}\u0007`;
}

/** Base64 digits that terminals take in one sequence; xterm takes no more. */
const MAX_COPIED = 74_994;

/** Puts a text into the clipboard, and says so; also where it is longer than a terminal takes. */
export function copyTo(write: (bytes: string) => void, text: string, what: string): string {
  const digits = Buffer.from(text).toString('base64');
  if (digits.length > MAX_COPIED) return `not copied: ${what} is longer than a terminal takes`;
  write(`\u001b]52;c;${digits}\u0007`);
  return `copied ${what}`;
}

const LONGEST = 120;

/** Nothing in it ends the sequence early or begins another one. */
function clean(text: string): string {
  return show(text, LONGEST).replaceAll(/\p{Cc}/gu, ' ');
}
