import { type Streams, wantsColour } from '../plain/terminal.ts';
import { glyphsFor } from './glyphs.ts';
import { type HeaderData, headerLine } from './parts/header.ts';
import { type Line, span } from './span.ts';
import { painted, paintOf, themeFor } from './theme.ts';

export interface FirstFrame extends HeaderData {
  readonly columns: number;
  readonly rows: number;
  readonly env: Streams['env'];
  /** One line below the header. */
  readonly note?: string;
}

/** Enter the alternate screen, hide the cursor, go to its corner and clear. */
const TAKE_SCREEN = '\u001b[?1049h\u001b[?25l\u001b[H\u001b[2J';

/** Undoes all that the UI may have switched on: bracketed paste, hidden cursor, colours, alternate screen. */
export const GIVE_SCREEN_BACK = '\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?1049l';

/**
 * The bytes of the first frame: the alternate screen with the header, which the UI will draw again in the
 * same place. Written by hand because loading Ink takes several times as long as starting Node. Imports
 * nothing heavy. A caller that writes it must also write `GIVE_SCREEN_BACK` if the UI does not start.
 */
export function firstFrame({ columns, rows, env, note, ...header }: FirstFrame): string {
  const look = {
    glyphs: glyphsFor(env),
    colour: wantsColour({ isTTY: true }, env),
    theme: themeFor(env),
  };
  const line = headerLine(header, columns, look, roughCells, roughCut);
  const waiting = span(`  ${note ?? 'starting'}`, 'text.dim');
  const lines: Line[] = [line, [], [{ ...waiting, text: roughCut(waiting.text, columns) }]];
  const text = lines
    .slice(0, rows)
    .map((row) =>
      row.map((piece) => painted(piece.text, paintOf(piece.token, look.colour, look.theme))).join(''),
    )
    .join('\r\n');
  return `${TAKE_SCREEN}${text}\u001b[H`;
}

/** Whether names and ids are hidden from the beginning: presenter mode. */
export function hidesNames(env: Streams['env']): boolean {
  return env['LIFEBOAT_PRESENT'] === '1';
}

/** An estimate is good enough for a frame that lasts an instant: everything beyond Latin counts as wide. */
function roughCells(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character) ? 2 : 1;
  return width;
}

function isWide(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= 0x1100 && !(code >= 0x2010 && code <= 0x27bf);
}

function roughCut(text: string, width: number): string {
  let used = 0;
  let kept = '';
  for (const character of text) {
    used += isWide(character) ? 2 : 1;
    if (used > width) break;
    kept += character;
  }
  return kept;
}
