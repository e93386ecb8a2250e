import { commandLines, type Quoting } from '../../../command-lines.ts';
import { lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { BLANK, type Line, type Look, span } from '../../../span.ts';

/** Far longer than any run's; what comes from a fault must not hold up the screen. */
const MAX = 2000;

/**
 * The fallback script as it is on disk: comments dim, commands bright. What is longer than a row is continued
 * as a comment or a command is, so that what is copied from the screen does the same. Its title says whether
 * a question waits below it.
 */
export function fallbackLines(
  fallback: string | undefined,
  isAsked: boolean,
  width: number,
  look: Look,
): Line[] {
  const title = isAsked ? 'fallback script: a question waits below it' : 'fallback script';
  const rows = fallback === undefined ? ['# loading'] : fallback.split('\n').slice(0, MAX);
  let quoting: Quoting = 'none';
  const lines = rows.flatMap((row) => {
    if (row.trim() === '') return [BLANK];
    if (quoting === 'none' && /^\s*#/u.test(row)) return commentLines(row, width);
    const command = commandLines(row, width, { quoting, token: 'text' });
    quoting = command.quoting;
    return command.lines;
  });
  return [
    ruleLine(title, width, look, 'accent'),
    ...lines,
    ...(fallback !== undefined && fallback.split('\n').length > MAX ? [[span(look.glyphs.ellipsis)]] : []),
  ];
}

function commentLines(row: string, width: number): Line[] {
  const whole = [span(row, 'text.dim')];
  if (lineWidth(whole) <= width) return [whole];
  const [, mark = '#', words = ''] = /^(\s*#\s*)(.*)$/u.exec(row) ?? [];
  const lead = `${mark.slice(0, Math.floor(width / 2)).trimEnd()} `;
  return wrapLine([span(words)], Math.max(1, width - lead.length)).map((line) => [
    span(lead, 'text.dim'),
    ...line.map(({ text }) => span(text, 'text.dim')),
  ]);
}
