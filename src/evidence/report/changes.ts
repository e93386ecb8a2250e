import type { Entry } from '../../journal/journal.ts';
import { code, plain, table } from '../markdown.ts';
import { fieldsOf } from '../measure/timeline.ts';
import { findAll } from './found.ts';
import { time } from './layout.ts';

/**
 * Everything that changed something: calls that may happen only once (when armed, how the send ended, what was found out later) and
 * steps that may be repeated, such as setting a key, with the answer they got.
 */
export function changes(entries: readonly Entry[]): string {
  const rows = [...onceRows(entries), ...repeatableRows(entries)].sort((a, b) => a.seq - b.seq);
  if (rows.length === 0) return 'None.';
  return table(
    ['Begun', 'Step', 'Intent, or what it was about', 'Answer', 'Found at the service'],
    rows.map(({ cells }) => cells),
  );
}

interface ChangeRow {
  readonly seq: number;
  readonly cells: readonly string[];
}

function onceRows(entries: readonly Entry[]): ChangeRow[] {
  return findAll(entries, 'intent.armed').map(({ entry, body: { intent, verb } }) => {
    const sent = findAll(entries, 'intent.outcome').findLast(({ body }) => body.intent === intent)?.body;
    const judged = findAll(entries, 'intent.judged').findLast(({ body }) => body.intent === intent)?.body;
    const answer = plain(sent?.sent ?? 'never written');
    const found = judged === undefined ? '' : plain(judged.verdict);
    return { seq: entry.seq, cells: [time(entry.at), plain(verb), code(intent, 60), answer, found] };
  });
}

function repeatableRows(entries: readonly Entry[]): ChangeRow[] {
  return findAll(entries, 'activity.begun')
    .filter(({ body }) => body.kind === 'repeatable')
    .map(({ entry, body: { activity, verb, input } }) => ({
      seq: entry.seq,
      cells: [
        time(entry.at),
        plain(verb),
        subjectOf(input),
        plain(answerOf(entries, entry.seq, activity)),
        '',
      ],
    }));
}

/** The application or service key that a step was about. */
function subjectOf(input: unknown): string {
  const { app, key } = fieldsOf(input);
  const { key: appKey, name } = { ...fieldsOf(key), ...fieldsOf(app) };
  const subject = appKey ?? name;
  return typeof subject === 'string' ? plain(subject, 80) : '';
}

/** How an activity that began at `seq` ended: its own word for it, the failure, or nothing on record. */
function answerOf(entries: readonly Entry[], seq: number, activity: string): string {
  const ended = findAll(entries, 'event').find(
    ({ entry, body }) => entry.seq > seq && body.event.type.endsWith(`.actor.${activity}`),
  )?.body.event;
  if (ended === undefined) return 'never written';
  const result = ended['output'] ?? ended['error'];
  const fields = typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {};
  const word = fields['answer'] ?? fields['shortMessage'];
  return typeof word === 'string' ? word : 'done';
}
