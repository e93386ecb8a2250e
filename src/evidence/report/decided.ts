import { formatValue } from '../../format.ts';
import type { Entry } from '../../journal/journal.ts';
import { plain, table } from '../markdown.ts';
import { findAll, findLast } from './found.ts';
import { time } from './layout.ts';
import type { WrittenObligation } from './obligations.ts';

/** What the run says of itself at its end. */
export function facts(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  if (closed === undefined) return 'None: a run says what it proved when it is closed.';
  if (closed.summary.length === 0) return 'None.';
  return table(
    ['Fact', 'Value'],
    closed.summary.map(({ label, value, unit }) => [plain(label), plain(formatValue(value, unit))]),
  );
}

/** What people decided, with their reasons. */
export function decisions(entries: readonly Entry[]): string {
  const answers = findAll(entries, 'answer');
  if (answers.length === 0) return 'None.';
  return table(
    ['Time', 'Who', 'Decision', 'Reason'],
    answers.map(({ entry, body }) => [
      time(entry.at),
      plain(entry.by, 60),
      plain(body.label ?? body.event),
      plain(body.reason ?? ''),
    ]),
  );
}

/** What was not done as the runbook has it, and why: by its steps, and by people in its place or not at all. */
export function deviations(entries: readonly Entry[], owed: readonly WrittenObligation[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  const steps = (closed?.deviations ?? []).map(({ step, reason }) => `- ${plain(step)}: ${plain(reason)}`);
  const told = new Set(closed?.deviations.map(({ step }) => step));
  const settled = owed.flatMap(({ id, what, settled: by }) =>
    by?.how === 'skipped' && !told.has(id)
      ? [`- skipped: ${plain(what)}: ${plain(by.text)}`]
      : by?.how === 'hand'
        ? [`- by hand: ${plain(what)}: ${plain(by.text)}`]
        : [],
  );
  const open =
    closed === undefined ? ['- The run is not closed: what its steps leave out is told then.'] : [];
  const all = [...steps, ...settled, ...open];
  return all.length === 0 ? 'None.' : all.join('\n');
}
