import { briefly } from '../../../../view/follow-up-words.ts';
import type { LogLine, RunView } from '../../../../view/run-view.ts';
import { ruleLine } from '../../../line.ts';
import { type Field, fieldLine } from '../../../parts/field.ts';
import { proseLines } from '../../../prose.ts';
import { BLANK, type Line, type Look, span } from '../../../span.ts';
import { wholeRows } from './log.ts';
import { stepWords } from './rail.ts';

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
  const entries = log.filter((entry) => entry.step === step.id);
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
      ? [[span('the log has nothing of it', 'text.dim')]]
      : [ruleLine('log', width, look), ...wholeRows(entries, width, look)]),
  ];
}
