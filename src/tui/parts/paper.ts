import { ruleLine, verbatimLines } from '../line.ts';
import { BLANK, type Line, type Look, span } from '../span.ts';

/** Far longer than any run's; what comes from a fault must not hold up the screen. */
const MOST = 2000;

/** The paper lifeboat, row by row as it is on disk: comments dim, commands bright. A rule says what waits below it. */
export function paperLines(paper: string | undefined, isAsked: boolean, width: number, look: Look): Line[] {
  const title = isAsked ? 'paper lifeboat: a question waits below it' : 'paper lifeboat';
  const rows = paper === undefined ? ['# being written'] : paper.split('\n').slice(0, MOST);
  return [
    ruleLine(title, width, look, 'accent'),
    ...rows.flatMap((row) =>
      row.trim() === '' ? [BLANK] : verbatimLines(row, width, row.startsWith('#') ? 'text.dim' : 'text'),
    ),
    ...(paper !== undefined && paper.split('\n').length > MOST ? [[span(look.glyphs.ellipsis)]] : []),
  ];
}
