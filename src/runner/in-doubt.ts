import { effectOf } from '../../machines/verbs.ts';
import type { Failure } from '../base/failure.ts';
import { type Entry, fieldsOf, type Json, type NewEntry, type StreamName } from '../store/journal.ts';
import type { LostCall } from '../store/log/rollback.ts';
import { type Doubt, doubtsOfStream, handedName, type OpenCall } from '../store/projections/pending-calls.ts';
import { foldSends } from '../store/projections/sends.ts';

/**
 * Whether the call may not be followed by another change before it is known what became of it. Another backup
 * does no harm, so one in doubt keeps nobody from anything but asking for it again.
 */
export function blocksOtherChanges({ verb }: Pick<OpenCall, 'verb'>): boolean {
  return effectOf(verb) !== 'backup';
}

/** Calls of a ledger that were armed, and neither landed, nor absent, nor decided. Pure. */
export function openCalls(entries: readonly Entry[]): readonly OpenCall[] {
  const [first] = entries;
  return first === undefined ? [] : doubtsOfStream(first.stream, entries);
}

/**
 * Calls of a run that is over, as entries for the ledger: from then on they are open calls of the instance.
 * The next change of the instance asks about them, and a person can resolve them. Keeps all that they are
 * judged by: what the service showed before, when they were armed, first and last, and how the send ended.
 * Pure.
 */
export function moveToLedger(doubts: readonly Doubt[]): readonly NewEntry[] {
  return doubts.flatMap((doubt) => {
    const { instance, run, intent, verb, input, baseline, armedAt, firstArmedAt } = doubt;
    const call = handedName(run?.runId, intent);
    const mark = { intent: call, verb };
    const written: readonly (readonly [type: string, body: Json])[] = [
      ['call.begun', { call, verb, input, reason: `left in doubt by run ${run?.runId}` }],
      ['intent.prepared', { ...mark, baseline }],
      ['intent.armed', { ...mark, armedAt, ...(firstArmedAt && { firstArmedAt }) }],
      ...endsOf(doubt).map(([type, body]) => [type, { ...mark, ...body }] as const),
    ];
    return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
  });
}

/** How the send ended, and what the service showed when it was asked last, as far as either is known. */
function endsOf({ answer, isRefusal, lostAt, unclear }: Doubt) {
  const outcome = answer && {
    sent: 'unknown',
    ...(isRefusal && { refused: true }),
    failure: asJson(answer),
    ...(lostAt && { lostAt }),
  };
  const judged = unclear && { verdict: 'ambiguous', failure: asJson(unclear) };
  return [
    ...(outcome ? [['intent.outcome', outcome] as const] : []),
    ...(judged ? [['intent.judged', judged] as const] : []),
  ];
}

function asJson(failure: Failure): Json {
  return failure as unknown as Json;
}

/**
 * A call that was armed in a part of the journal that is lost, as entries for the ledger of its instance:
 * from then on it is a call in doubt like any other. Its input and its baseline are those that are still on
 * record, in `entries` of its stream; without a baseline nothing is concluded from what the service shows,
 * and a person decides. Pure.
 */
export function lostCallEntries(
  { stream, instance, verb, intent, at, firstAt }: LostCall,
  entries: readonly Entry[],
): readonly NewEntry[] {
  const call = lostName(stream, intent);
  const mark = { intent: call, verb };
  const known = foldSends(entries).get(intent);
  const first = known?.firstArmedAt ?? known?.armedAt ?? firstAt ?? at;
  const reason = `armed by ${stream} in a part of the journal that was lost`;
  const written: readonly (readonly [type: string, body: Json])[] = [
    ['call.begun', { call, verb, input: inputIn(entries, intent), reason }],
    ['intent.prepared', { ...mark, baseline: (known?.baseline as Json) ?? { lost: true } }],
    ['intent.armed', { ...mark, armedAt: at, ...(first !== at && { firstArmedAt: first }) }],
  ];
  return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
}

/**
 * The name of a lost call in the ledger. It differs from that of a call which a run hands on: a run
 * that goes on gives the same intent out again, and that one is in doubt by itself.
 */
function lostName(stream: StreamName, intent: string): string {
  return stream.startsWith('run/') ? `lost-${stream.slice('run/'.length)}-${intent}` : `lost-${intent}`;
}

function inputIn(entries: readonly Entry[], intent: string): Json {
  const begun = entries.findLast(({ type, body }) => {
    const { key, call } = fieldsOf(body);
    return (type === 'activity.begun' && key === intent) || (type === 'call.begun' && call === intent);
  });
  const { on: _, intent: __, ...input } = fieldsOf(fieldsOf(begun?.body)['input']);
  return input as Json;
}
