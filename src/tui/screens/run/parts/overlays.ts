import { briefly } from '../../../../view/follow-up-words.ts';
import type { LogLine, RunView } from '../../../../view/run-view.ts';
import { commandLines, type Quoting } from '../../../command-lines.ts';
import { limitRows, lineWidth, ruleLine, wrapLine } from '../../../line.ts';
import { type Field, fieldLine } from '../../../parts/field.ts';
import { proseLines } from '../../../prose.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';
import { stepWords } from './progress.ts';

/** The end of the log under a rule, which `height` includes. Only the oldest or a too large entry is cut. */
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

export function wholeRows(log: readonly LogLine[], width: number, look: Look): Line[] {
  return log.flatMap((entry) => {
    const whole = entryLine(entry, look);
    if (lineWidth(whole) <= width) return [whole];
    const [at, sign, text] = whole;
    const lead = lineWidth([at, sign]);
    // An unreadable time is shown as it is, and may be long.
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

/** The rows above the log that do not scroll: its title, and the filter if there is one. */
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

/** A step's prose, and what the log says about it. */
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

/** Far more than any script has; limited so that a fault cannot stall the screen. */
const MAX = 2000;

/**
 * As on disk: comments dim, commands bright. Wrapped rows continue as comment or command, so that a copy from
 * the screen runs. The title says if a question waits below.
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

/** The safe choice comes first. */
export const LEAVE_CHOICES = ['stay', 'leave'] as const;

/**
 * Says that leaving does no harm, or that only this terminal can continue. `lead`: stops the run for another.
 */
export function leaveLines(
  { runId, instance, gone }: Pick<RunView, 'runId' | 'instance' | 'gone'>,
  what: 'leave' | 'lead',
  cursor: number,
  width: number,
  look: Look,
): Line[] {
  const left = gone ?? `the run stays open; resume it with \`lifeboat resume ${runId}\``;
  const title = what === 'leave' ? 'leave this run?' : 'stop this run to start the recovery?';
  const choices = [
    ['stay', 'continue the run here'],
    what === 'leave' ? ['leave', left] : [`stop it, and recover ${instance}`, STOPPED],
  ] as const;
  return [
    ruleLine(title, width, look, 'accent'),
    ...choices.flatMap(([label, meaning], at) => [
      [
        span(at === cursor ? `${look.glyphs.cursor} ` : '  ', 'selected'),
        span(label, at === cursor ? 'selected' : 'text'),
      ],
      ...wrapLine([span(`    ${meaning}`, 'text.dim')], width, 4),
    ]),
  ];
}

const STOPPED =
  'this run is closed as stopped, and sends nothing more; then the recovery is shown, and it starts only when you confirm it';

const RESTING = 'nothing is done meanwhile; it stands where it was left, and the incident goes on';

/** In place of a question on a watched run: who drives it, and what it asks. */
export function watchedLines(
  {
    watched,
    question,
    outcome,
  }: Pick<RunView, 'watched' | 'outcome'> & {
    readonly question: RunView['question'] | undefined;
  },
  width: number,
  look: Look,
): Line[] {
  if (watched === undefined || outcome !== undefined) return [];
  const asked =
    question === undefined
      ? []
      : wrapLine([span('it asks there: ', 'status.warn'), span(question.prompt)], width, 2);
  return [
    ruleLine('only looking', width, look),
    ...asked,
    ...wrapLine([span(watched.driver, watched.isFree ? 'status.warn' : 'text.strong')], width, 2),
    ...(watched.isFree ? wrapLine([span(RESTING)], width, 2) : []),
  ];
}
