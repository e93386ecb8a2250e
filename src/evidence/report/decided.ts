import { formatValue } from '../../format.ts';
import type { Entry } from '../../journal/journal.ts';
import { plain, table } from '../markdown.ts';
import { findAll, findLast } from './found.ts';
import { time } from './layout.ts';

/** What the run says of itself at its end. */
export function facts(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  if (closed === undefined || closed.summary.length === 0) return 'None.';
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

/** What was not done as the runbook has it, and why. */
export function deviations(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  if (closed === undefined || closed.deviations.length === 0) return 'None.';
  return closed.deviations.map(({ step, reason }) => `- ${plain(step)}: ${plain(reason)}`).join('\n');
}
