import { cells } from '../../plain/width.ts';
import { ageWords, dueWords, stillOpen, waysInWords } from '../../view/owed.ts';
import type { ObligationView } from '../../view/run-view.ts';
import { commandLines } from '../command-lines.ts';
import { cutLine, padLine, ruleLine, wrapLine } from '../line.ts';
import { BLANK, type Line, type Look, span } from '../span.ts';
import { limitRows } from './facts.ts';
import { signOf, tokenOf } from './tones.ts';

/** One row of the list of what is owed: about what, until when, what has to be done, since when and by whom. */
export function owedRow(
  owed: ObligationView,
  focused: boolean,
  all: readonly ObligationView[],
  width: number,
  look: Look,
): Line {
  const widest = Math.max(...all.map(({ subject }) => cells(span(subject).text)));
  const most = Math.min(widest, Math.max(10, Math.floor(width / 3)));
  const subject = cutLine([span(owed.subject, focused ? 'selected' : 'text')], most, look);
  const row: Line = [
    span(focused ? `${look.glyphs.cursor} ` : '  ', 'selected'),
    ...padLine(subject, most),
    ...dueSpans(owed, look),
    span(`  ${owed.what}`),
    span(`  ${ageWords(owed)}`, 'text.dim'),
  ];
  return cutLine(row, width, look);
}

/** What stands below the row under the cursor: what has to be done, the commands to copy, how it can be settled. */
export function owedDetail(owed: ObligationView, width: number): Line[] {
  const indented = (text: string) => wrapLine([span(`    ${text}`, 'text.dim')], width, 4);
  return [
    ...wrapLine([span(`    ${owed.what}`)], width, 4),
    ...owed.commands.flatMap((command) => commandLines(command, width, { lead: '    ' }).lines),
    ...indented(`settled ${waysInWords(owed)}`),
  ];
}

/** All there is to know of one obligation. Its commands begin at the edge of the screen, so that they can be copied as they are. */
export function owedLines(owed: ObligationView, width: number, look: Look): Line[] {
  const known = [dueWords(owed).text, ageWords(owed)].filter((text) => text !== '').join(', ');
  return [
    ruleLine(`owed: ${owed.subject}`, width, look, 'accent'),
    ...wrapLine([span(owed.what, 'text.strong')], width),
    ...wrapLine([span(known, 'text.dim')], width),
    ...(owed.commands.length === 0 ? [] : [BLANK]),
    ...owed.commands.flatMap((command) => commandLines(command, width).lines),
    BLANK,
    ...wrapLine([span(`It is settled ${waysInWords(owed)}.`, 'text.dim')], width),
  ];
}

/** What is owed as a panel: a row for each, the most urgent first, at most `limit` rows. */
export function owedPanel(
  obligations: readonly ObligationView[],
  width: number,
  limit: number,
  look: Look,
): Line[] {
  const open = [...stillOpen(obligations)].sort(
    (one, other) => (one.left ?? Number.MAX_VALUE) - (other.left ?? Number.MAX_VALUE),
  );
  if (open.length === 0) return [];
  const rows = open.map((owed): Line => {
    const due = dueSpans(owed, look);
    return cutLine(
      [...(due.length === 0 ? [span('  ')] : []), ...due, span(`  ${owed.subject}`)],
      width,
      look,
    );
  });
  const title = ruleLine(`owing ${open.length}`, width, look);
  if (rows.length < limit) return [title, ...rows];
  const shown = rows.slice(0, Math.max(0, limit - 2));
  const more: Line = [span(`  ${open.length - shown.length} more`, 'text.dim')];
  return limitRows([title, ...shown, more], limit, width, look);
}

function dueSpans(owed: ObligationView, look: Look): Line {
  const { text, tone } = dueWords(owed);
  if (text === '') return [];
  const sign = signOf(tone, look);
  return [span(`  ${sign === ' ' ? '' : `${sign} `}${text}`, tokenOf(tone))];
}
