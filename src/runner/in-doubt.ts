import { effectOf } from '../../machines/verbs.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Json, NewEntry, StreamName } from '../store/journal.ts';
import { type Doubt, doubtsOfStream, handedName, type OpenCall } from '../store/projections/pending-calls.ts';

export { type Doubt, handedName, type OpenCall } from '../store/projections/pending-calls.ts';

/** The entries of one run, from the first one on. */
export interface RunEntries {
  readonly stream: StreamName;
  readonly entries: readonly Entry[];
}

/**
 * Whether the call may not be followed by another change before it is known what became of it. Another backup
 * does no harm, so one in doubt keeps nobody from anything but asking for it again.
 */
export function isGrave({ verb }: Pick<OpenCall, 'verb'>): boolean {
  return effectOf(verb) !== 'backup';
}

/** Calls of a ledger that were armed, and neither landed, nor absent, nor decided. Pure. */
export function openCalls(entries: readonly Entry[]): readonly OpenCall[] {
  const [first] = entries;
  return first === undefined ? [] : doubtsOfStream(first.stream, entries);
}

/** Calls of a run that were armed, and neither landed, nor absent, nor decided by whoever drove it. Pure. */
export function doubtsOfRun({ stream, entries }: RunEntries): readonly Doubt[] {
  return doubtsOfStream(stream, entries);
}

/**
 * Calls of a run that is over, as entries for the ledger: from then on they are open calls of the instance.
 * The next change of the instance asks about them, and a person can resolve them. Keeps all that they are
 * judged by: what the service showed before, when they were armed, first and last, and how the send ended.
 * Pure.
 */
export function handOn(doubts: readonly Doubt[]): readonly NewEntry[] {
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
function endsOf({ lost, lostAt, refused, unclear }: Doubt) {
  const outcome = lost && {
    sent: 'unknown',
    ...(refused && { refused: true }),
    failure: asJson(lost),
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
