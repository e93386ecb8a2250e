import { splitAt } from '../plain/width.ts';
import { type Line, span } from './span.ts';
import type { Token } from './theme.ts';

/** The quotes that a shell is inside of. */
export type Quoting = 'none' | 'single' | 'double';

interface CommandLook {
  /** The shell's state after the previous rows. */
  readonly quoting?: Quoting;
  /** Indent of each row that may be indented. */
  readonly lead?: string;
  readonly token?: Token;
}

/**
 * Breaks a command into rows of at most `width` (at least 12) cells that run as the same command when they
 * are copied together: a row that continues ends with a backslash. A command that fits is one row, unchanged.
 */
export function commandLines(
  text: string,
  width: number,
  { quoting = 'none', lead = '', token = 'text.code' }: CommandLook = {},
): { readonly lines: Line[]; readonly quoting: Quoting } {
  const rows: string[] = [];
  const most = Math.max(12, width);
  let state = quoting;
  let start = quoting === 'none' ? lead : '';
  let rest = span(text, token).text;
  for (;;) {
    if (splitAt(rest, most - start.length, 1)[1] === '') {
      rows.push(start + rest);
      return { lines: rows.map((row) => [{ text: row, token }]), quoting: scan(rest, state).at(-1) ?? state };
    }
    // Leave two cells for the continuation.
    const [head] = splitAt(rest, most - start.length - 2, 1);
    const states = scan(head, state);
    const blank = states.findLastIndex((after, at) => after === 'none' && at > 0 && isBlank(head, at));
    const isSoft = blank > head.length / 3;
    const end = isSoft ? blank + 1 : beforeEscape(head, states);
    state = states[end - 1] ?? state;
    rows.push(`${start}${head.slice(0, end)}${state === 'single' ? "'" : ''}\\`);
    start = isSoft ? `${lead}    ` : state === 'single' ? "'" : '';
    rest = rest.slice(end);
  }
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' && text[at - 1] !== '\\';
}

/** Keeps a backslash and the character that it escapes together. */
function beforeEscape(head: string, states: readonly Quoting[]): number {
  if (states.at(-1) === 'single') return head.length;
  const slashes = /\\*$/u.exec(head)?.[0].length ?? 0;
  return slashes % 2 === 0 ? head.length : Math.max(1, head.length - 1);
}

function scan(text: string, from: Quoting): Quoting[] {
  let state = from;
  let isEscaped = false;
  return Array.from({ length: text.length }, (_, at) => {
    const character = text[at];
    if (isEscaped) isEscaped = false;
    else if (character === '\\' && state !== 'single') isEscaped = true;
    else if (character === "'" && state !== 'double') state = state === 'single' ? 'none' : 'single';
    else if (character === '"' && state !== 'single') state = state === 'double' ? 'none' : 'double';
    return state;
  });
}
