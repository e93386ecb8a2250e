import { effectOf } from '../../machines/verbs.ts';
import type { Failure } from '../base/failure.ts';
import { type Entry, fieldsOf, type Json, type NewEntry, type StreamName } from '../store/journal.ts';
import type { LostCall } from '../store/log/rollback.ts';
import { type Doubt, doubtsOfStream, handedName, type OpenCall } from '../store/projections/pending-calls.ts';
import { foldSends } from '../store/projections/sends.ts';

/**
 * Whether this call must be resolved before another change. Another backup is harmless, so a backup in doubt
 * blocks only a request for a backup.
 */
export function blocksOtherChanges({ verb }: Pick<OpenCall, 'verb'>): boolean {
  return effectOf(verb) !== 'backup';
}

/**
 * Calls of a ledger that were armed and have neither landed, nor been found absent, nor been decided. Pure.
 */
export function openCalls(entries: readonly Entry[]): readonly OpenCall[] {
  const [first] = entries;
  return first === undefined ? [] : doubtsOfStream(first.stream, entries);
}

/**
 * The calls of a run that is over, as entries for the ledger, which make them open calls of the instance. The
 * next change of the instance asks about them, and a person can resolve them. Keeps everything needed to
 * judge them: what the service showed before, the first and last arming, and how the send ended. Pure.
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

/** How the send ended, and what the service showed when last asked, as far as known. */
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
 * A call that was armed in a lost part of the journal, as entries for the ledger of its instance, which make
 * it an ordinary call in doubt. Its input and baseline come from what remains in `entries` of its stream.
 * Without a baseline nothing can be concluded from what the service shows, and a person decides. Pure.
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
 * The name of a lost call in the ledger. It differs from the name of a call that a run moves there, because a
 * resumed run uses the same intent again, and that call can be in doubt too.
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
