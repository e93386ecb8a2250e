import { briefly } from '../../../../view/follow-up-words.ts';
import type { LogLine, RunView } from '../../../../view/run-view.ts';
import { limitRows, lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { type Field, fieldLine } from '../../../parts/field.ts';
import { proseLines } from '../../../prose.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';
import { stepWords } from './rail.ts';

/**
 * The newest of the log under a rule; `height` counts the rule. An entry has all the rows that it takes; of
 * the oldest that is shown, and of one that is larger than the room, the last rows may be missing.
 */
export function logLines(log: readonly LogLine[], width: number, height: number, look: Look): Line[] {
  if (height < 2 || log.length === 0) return [];
  const room = height - 1;
  const shown: Line[] = [];
  for (const entry of log.slice(-room).toReversed()) {
    if (shown.length === room) break;
    shown.unshift(...limitRows(wholeRows([entry], width, look), room - shown.length, width, look));
  }
  return [ruleLine('log', width, look), ...shown];
}

/** Entries of the log, each with all the rows that it takes. */
export function wholeRows(log: readonly LogLine[], width: number, look: Look): Line[] {
  return log.flatMap((entry) => {
    const whole = entryLine(entry, look);
    if (lineWidth(whole) <= width) return [whole];
    const [at, sign, text] = whole;
    const lead = lineWidth([at, sign]);
    // A time that cannot be read is shown as it is, whatever its length.
    if (lead > width / 2) return wrapLine(whole, width, 2);
    return wrapLine([text], width - lead).map(
      (row, index): Line => (index === 0 ? [at, sign, ...row] : [span(' '.repeat(lead)), ...row]),
    );
  });
}

function entryLine({ at, tone, text }: LogLine, look: Look): readonly [Span, Span, Span] {
  return [
    span(`${at} `, 'text.dim'),
    span(`${signOf(tone, look)} `, tokenOf(tone)),
    span(text, tokenOf(tone)),
  ];
}

/** The rows above the log that do not scroll: what it is, and the filter once there is one. */
export function logHead(
  view: Pick<RunView, 'log' | 'question'>,
  filter: Field,
  isFiltering: boolean,
  width: number,
  look: Look,
): Line[] {
  const found = filtered(view.log, filter).length;
  const count = filter.text === '' ? `${view.log.length}` : `${found} of ${view.log.length}`;
  const title = `log: ${count} entries${view.question === undefined ? '' : ': a question waits below it'}`;
  const rule = ruleLine(title, width, look, 'accent');
  if (isFiltering) return [rule, fieldLine('/', filter, width, look)];
  return filter.text === '' ? [rule] : [rule, ...[[span('/', 'text.dim'), span(filter.text, 'text.strong')]]];
}

/** The entries that hold the text of the filter, each with all its rows. */
export function logRows(log: readonly LogLine[], filter: Field, width: number, look: Look): Line[] {
  const found = filtered(log, filter);
  return found.length === 0 ? [[span('  no entry fits', 'text.dim')]] : wholeRows(found, width, look);
}

function filtered(log: readonly LogLine[], { text }: Field): readonly LogLine[] {
  const wanted = text.trim().toLowerCase();
  return wanted === ''
    ? log
    : log.filter((entry) => `${entry.at} ${entry.text}`.toLowerCase().includes(wanted));
}

/** A step of the rail to look at: its prose, and what the log says of it. */
export function stepLines({ rail, log }: RunView, row: number, width: number, look: Look): Line[] {
  const step = rail[row];
  if (step === undefined) return [];
  const first = rail[0]?.id;
  const entries = log.filter((entry) => (entry.step ?? first) === step.id);
  const time = step.seconds === undefined ? '' : `, ${briefly(step.seconds)}`;
  return [
    ruleLine(
      `step ${row + 1}/${rail.length}: ${step.title} (${stepWords(step)}${time})`,
      width,
      look,
      'accent',
    ),
    ...(step.prose === undefined ? [] : [...proseLines(step.prose, width, look), BLANK]),
    ...(entries.length === 0
      ? [[span('the log has no entry about it', 'text.dim')]]
      : [ruleLine('log', width, look), ...wholeRows(entries, width, look)]),
  ];
}
