import { callOf, verbTo } from '../../machines/parts/verb-words.ts';
import type { Failure } from '../base/failure.ts';
import { counted, formatTime, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import { type Entry, fieldsOf } from '../store/journal.ts';
import { type RunEntryBody, type RunEntryType, readRunEntry } from '../store/run-entries.ts';
import type { FactLine, TroubleView } from './run-view.ts';

/**
 * What the record tells of a failure: what was tried or sent and when, what came back, what the service
 * showed, and the commands that look into it. Says no more than the record does.
 */
export function viewTrouble(failure: Failure, entries: readonly Entry[], runId: string): TroubleView {
  return {
    facts: factsOf(failure, attemptIn(entries)),
    commands: commandsFor(failure, runId),
    tries: triesIn(entries),
  };
}

/** How often the call failed in a row, and what came back each time: `the last 3 tries got 502`. */
function triesIn(entries: readonly Entry[]): string | undefined {
  let activity: string | undefined;
  const answers: string[] = [];
  for (const { type, body } of entries.toReversed()) {
    if (type !== 'event') continue;
    const failed = failedActivity(body);
    activity ??= failed;
    if (activity !== undefined && doneActivity(body) === activity) break;
    if (failed !== undefined && failed === activity) answers.push(answerIn(body));
  }
  if (answers.length === 0) return undefined;
  const got = [...new Set(answers)].join(' and ');
  return answers.length === 1 ? `the last try ${got}` : `the last ${answers.length} tries ${got}`;
}

function answerIn(body: Entry['body']): string {
  const { error } = fieldsOf(fieldsOf(body)['event']);
  const { status, transport } = fieldsOf(fieldsOf(error)['evidence']);
  if (typeof status === 'number') return `got ${status}`;
  return typeof transport === 'string' ? 'got no answer' : 'failed';
}

type Found<T extends RunEntryType> = { readonly at: string; readonly body: RunEntryBody<T> };

/** The call that failed last, as the entries tell it. */
interface Attempt {
  readonly begun: Found<'activity.begun'>;
  readonly failedAt: string;
  /** How often it was sent, and the last time. */
  readonly sends: readonly Found<'intent.armed'>[];
  readonly outcome: Found<'intent.outcome'> | undefined;
  readonly judged: Found<'intent.judged'> | undefined;
}

function attemptIn(entries: readonly Entry[]): Attempt | undefined {
  const failed = entries.findLastIndex(
    ({ type, body }) => type === 'event' && failedActivity(body) !== undefined,
  );
  const activity = failedActivity(entries[failed]?.body ?? null);
  const before = entries.slice(0, Math.max(0, failed));
  const begun = about(before, 'activity.begun', 'activity', activity).at(-1);
  if (begun === undefined) return undefined;
  const { key } = begun.body;
  return {
    begun,
    failedAt: entries[failed]?.at ?? begun.at,
    sends: about(before, 'intent.armed', 'intent', key),
    outcome: about(before, 'intent.outcome', 'intent', key).at(-1),
    judged: about(before, 'intent.judged', 'intent', key).findLast(({ body }) => body.verdict !== 'nothing'),
  };
}

function failedActivity(body: Entry['body']): string | undefined {
  return /^xstate\.error\.actor\.(.+)$/u.exec(eventType(body))?.[1];
}

function doneActivity(body: Entry['body']): string | undefined {
  return /^xstate\.done\.actor\.(.+)$/u.exec(eventType(body))?.[1];
}

function eventType(body: Entry['body']): string {
  const { type } = fieldsOf(fieldsOf(body)['event']);
  return typeof type === 'string' ? type : '';
}

function about<T extends RunEntryType>(
  entries: readonly Entry[],
  type: T,
  field: string,
  value: string | undefined,
): Found<T>[] {
  return entries.flatMap((entry) => {
    if (entry.type !== type || fieldsOf(entry.body)[field] !== value) return [];
    const known = readRunEntry(entry);
    return known === undefined ? [] : [{ at: entry.at, body: known.body as RunEntryBody<T> }];
  });
}

function factsOf(failure: Failure, attempt: Attempt | undefined): FactLine[] {
  const { outcome, judged, failedAt } = attempt ?? {};
  const answer = outcome?.body.failure ?? failure;
  const rows: readonly (readonly [label: string, value: string | undefined])[] = [
    ...(attempt === undefined ? [] : [sentRow(attempt)]),
    ['answer', answerWords(answer, outcome?.at ?? failedAt)],
    ['service', shownWords(judged?.body.failure ?? failure, judged?.at ?? failedAt)],
    ['code', [failure.code, intentOf(attempt)].filter((words) => words !== undefined).join(', ')],
  ];
  return rows.flatMap(([label, value]): FactLine[] =>
    value === undefined ? [] : [{ label, value: readable(value), tone: 'plain' }],
  );
}

/** What was sent and how often; for a verb that sends nothing, or sent nothing, what was tried. */
function sentRow({ begun, sends }: Attempt): readonly [string, string] {
  const { verb, kind, input } = begun.body;
  const last = sends.at(-1);
  const words = verbTo(verb, input);
  if (last !== undefined) {
    const times = sends.length === 1 ? 'once' : `${sends.length} times, last`;
    return ['sent', `${callOf(verb, input) ?? `the request to ${words}`}, ${times} at ${clock(last.at)}`];
  }
  const safe = {
    read: 'it only reads',
    repeatable: 'the same again changes nothing more',
    attended: 'it runs again only when you say so',
    once: 'nothing was sent',
  };
  return ['tried', `to ${words}, at ${clock(begun.at)}; ${safe[kind]}`];
}

/** What came back, as far as the failure tells it; undefined where it tells nothing but its sentence. */
function answerWords({ evidence }: Pick<Failure, 'evidence'>, at: string | undefined): string | undefined {
  const { status, word, transport, requestId } = evidence;
  const parts = [
    ...(typeof status === 'number' ? [`status ${status}`] : []),
    ...(typeof word === 'string' ? [`"${show(word, 60)}"`] : []),
    ...(typeof transport === 'string' ? [`none: ${show(transport, 60)}`] : []),
    ...(typeof requestId === 'string' ? [`request id ${show(requestId, 100)}`] : []),
  ];
  return parts.length === 0 ? undefined : [...parts, ...(at === undefined ? [] : [clock(at)])].join(', ');
}

/** What the service showed when it was asked what became of a call. */
function shownWords(
  { code, evidence }: Pick<Failure, 'code' | 'evidence'>,
  at: string | undefined,
): string | undefined {
  const when = at === undefined ? '' : ` at ${clock(at)}`;
  const { candidates, cause } = evidence;
  if (Array.isArray(candidates) && candidates.length > 0)
    return `showed ${counted(candidates.length, 'task')}${when} that the request may have become`;
  if (code === 'doubt.unreadable' && typeof cause === 'string')
    return `could not be asked${when}: ${show(cause, 160)}`;
  return code.startsWith('doubt.') ? `showed nothing${when} that resolves it` : undefined;
}

function intentOf(attempt: Attempt | undefined): string | undefined {
  return attempt?.begun.body.kind === 'once' ? `intent ${show(attempt.begun.body.key, 80)}` : undefined;
}

function clock(at: string): string {
  return `${formatTime(at).slice(11)} UTC`;
}

/** What `lifeboat doctor` tries: config, key store, the way to the service, its token, the platform. */
const DOCTORS = /^(?:(?:service|credentials|keys|platform)\.|doubt\.unreadable$)/u;

function commandsFor({ code }: Failure, runId: string): TroubleView['commands'] {
  return [
    ...(DOCTORS.test(code)
      ? [{ when: 'check what this machine needs to reach it', command: 'lifeboat doctor' }]
      : []),
    { when: 'read what is on record of this run', command: `lifeboat audit show ${show(runId, 40)}` },
  ];
}
