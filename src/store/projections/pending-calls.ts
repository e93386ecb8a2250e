import { isInDoubt, isOver, isRefused, type Send } from '../../../machines/send-state.ts';
import type { Failure } from '../../base/failure.ts';
import {
  type Entry,
  fieldsOf,
  type JournalReader,
  type Json,
  type ProjectedRow,
  type StreamName,
} from '../journal.ts';
import type { ArmedCall } from '../log/checkpoint.ts';
import { isEnd } from '../run-entries.ts';
import type { FoldedRow, Projection } from './projection.ts';
import { intentOf, isDecision, sendAfter } from './sends.ts';

const PENDING = 'pending';
const OTHER = 'none';

/** May have been sent, with an unknown outcome. */
export interface OpenCall {
  readonly intent: string;
  readonly verb: string;
  readonly armedAt: string;
  readonly input: Readonly<Record<string, Json>>;
  /** The service's last, inconclusive answer. */
  readonly unclear?: Failure | undefined;
}

/** An open call with all that finding out its outcome needs, whatever sent it. */
export interface Doubt extends OpenCall {
  /** The one that the call changes. */
  readonly instance: string;
  /** Undefined for a call in the instance's ledger. */
  readonly run?: { readonly runId: string; readonly isOpen: boolean };
  readonly baseline: Json;
  /** If it was sent again after a refusal. RFC 3339. */
  readonly firstArmedAt?: string | undefined;
  /** Why the outcome is unknown, if it was recorded. */
  readonly answer?: Failure | undefined;
  /** The answer is a refusal that the service has shown to be unreliable. */
  readonly isRefusal?: boolean | undefined;
  /** The in-flight window starts then. */
  readonly lostAt?: string | undefined;
}

interface Call {
  /** Of the entry that began it. */
  readonly seq: number;
  /** For a ledger's call, named at its beginning; a run's calls name it when they are prepared. */
  readonly verb?: string;
  readonly input: Readonly<Record<string, Json>>;
  readonly send?: Send;
  /** For a ledger's call: its maker will do nothing more about it. */
  readonly isLeft?: true;
}

/** Those of one stream that are not over. */
interface Calls {
  /** Undefined for a ledger. */
  readonly run?: {
    readonly runId: string;
    readonly instance: string;
    readonly target?: string;
    readonly isOpen: boolean;
  };
  /** Armed last: a person is asked about one call at a time, this one. */
  readonly armed?: string;
  /** In order of beginning. */
  readonly calls: readonly (readonly [intent: string, call: Call])[];
}

/**
 * One row for each run that is open or left a call in doubt, and for each ledger with a call that is not
 * over. The key is the stream; the group is `pending` if a call that may have been sent has no outcome. A
 * call decided after its run's end leaves the run's row with the ledger's entry, appended while no other
 * process can write the run.
 */
export const pendingCalls: Projection = {
  name: 'pending-calls',
  version: 3,
  vouched: [PENDING, OTHER],
  keysOf: (entry) => {
    if (!CONCERNS.has(entry.type) || isReading(entry) || isPlainEvent(entry)) return [];
    const handed = handedIn(entry);
    return handed === undefined ? [entry.stream] : [entry.stream, handed.run];
  },
  fold: (row, entry, key) => {
    const before = row?.value as unknown as Calls | undefined;
    const handed = handedIn(entry);
    const after =
      handed?.run === key
        ? before && without(before, handed.intent)
        : key.startsWith('run/')
          ? afterOfRun(before, entry)
          : afterOfLedger(before ?? { calls: [] }, entry);
    return rowOf(after, key);
  },
};

/** Oldest first. */
function doubtsIn(rows: readonly Pick<ProjectedRow, 'key' | 'value'>[]): readonly Doubt[] {
  return inOrder(rows.flatMap((row) => doubtsOfRow(row)));
}

/** As a checkpoint names them. */
export function armedIn(rows: readonly Pick<ProjectedRow, 'key' | 'value'>[]): readonly ArmedCall[] {
  const doubts = rows.flatMap((row) => doubtsOfRow(row).map((doubt) => ({ ...doubt, stream: row.key })));
  return inOrder(doubts).map(({ stream, instance, verb, intent, armedAt: at }) => {
    return { stream: stream as StreamName, instance, verb, intent, at };
  });
}

function inOrder<Call extends OpenCall>(calls: readonly Call[]): readonly Call[] {
  return calls.toSorted((one, other) => {
    if (one.armedAt === other.armedAt) return 0;
    return one.armedAt < other.armedAt ? -1 : 1;
  });
}

/** Whatever sent them, oldest first. */
export async function readPending(journal: Pick<JournalReader, 'rows'>): Promise<readonly Doubt[]> {
  return doubtsIn(await journal.rows(pendingCalls.name, { group: PENDING }));
}

/** From its entries alone. Pure. */
export function doubtsOfStream(stream: StreamName, entries: readonly Entry[]): readonly Doubt[] {
  let row: FoldedRow | undefined;
  for (const entry of entries)
    if (pendingCalls.keysOf(entry).includes(stream)) row = pendingCalls.fold(row, entry, stream);
  return row === undefined ? [] : doubtsIn([{ key: stream, value: row.value }]);
}

/** From the oldest open call: enough to ask about a call or make another. */
export async function readLedgerTail(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  stream: StreamName,
): Promise<readonly Entry[]> {
  const groups = [PENDING, OTHER].map((group) => journal.rows(pendingCalls.name, { group }));
  const row = (await Promise.all(groups)).flat().find(({ key }) => key === stream);
  const begun = ((row?.value as unknown as Calls | undefined)?.calls ?? []).map(([, { seq }]) => seq);
  return journal.read(stream, begun.length === 0 ? (await journal.head(stream)).seq + 1 : Math.min(...begun));
}

/** For a call that a run left; each run counts its own calls from zero. */
export function handedName(runId: string | undefined, intent: string): string {
  return `run-${runId}-${intent}`;
}

const HANDED = /^run-([^-]+)-(.+)$/su;

const CONCERNS: ReadonlySet<string> = new Set([
  'activity.begun',
  'call.begun',
  'call.decided',
  'call.ended',
  'event',
  'intent.armed',
  'intent.judged',
  'intent.outcome',
  'intent.prepared',
  'run.abandoned',
  'run.closed',
  'run.started',
]);

function isReading({ type, body }: Entry): boolean {
  const { kind } = fieldsOf(body);
  return type === 'activity.begun' && kind !== 'once';
}

function isPlainEvent(entry: Entry): boolean {
  return entry.type === 'event' && !isDecision(entry);
}

/** Undefined for a call that the ledger's own holder made. */
export function handedRun(intent: string): string | undefined {
  return HANDED.exec(intent)?.[1];
}

/** The run's call that a ledger's entry decides, or takes over, as earlier versions did. */
function handedIn({
  stream,
  type,
  body,
}: Entry): { readonly run: string; readonly intent: string } | undefined {
  if ((type !== 'call.begun' && type !== 'call.decided') || stream.startsWith('run/')) return undefined;
  const [, runId, intent] = HANDED.exec(String(fieldsOf(body)['call'])) ?? [];
  return runId === undefined || intent === undefined ? undefined : { run: `run/${runId}`, intent };
}

function rowOf(after: Calls | undefined, sort: string): FoldedRow | undefined {
  if (after === undefined) return undefined;
  const isPending = after.calls.some(([, { send }]) => send !== undefined && isInDoubt(send));
  if (!isPending && (after.run === undefined ? after.calls.length === 0 : !after.run.isOpen))
    return undefined;
  return { group: isPending ? PENDING : OTHER, sort, value: after as unknown as Json };
}

function afterOfRun(before: Calls | undefined, entry: Entry): Calls | undefined {
  const { body, type, stream, seq } = entry;
  if (before === undefined) {
    const { instance, target } = fieldsOf(body) as { readonly instance?: string; readonly target?: string };
    if (type !== 'run.started' || seq !== 1 || typeof instance !== 'string') return undefined;
    const into = typeof target === 'string' ? { target } : {};
    return { run: { runId: stream.slice('run/'.length), instance, ...into, isOpen: true }, calls: [] };
  }
  if (isEnd(entry)) return before.run && { ...before, run: { ...before.run, isOpen: false } };
  if (type === 'event') return before.armed === undefined ? before : moved(before, before.armed, entry);
  const after = type === 'activity.begun' ? begun(before, String(fieldsOf(body)['key']), entry) : before;
  return moved(after, intentOf(entry), entry);
}

/** A ledger's holder makes one call at a time: a new one ends a call that was never armed. */
function afterOfLedger(before: Calls, entry: Entry): Calls {
  const { call, verb } = fieldsOf(entry.body);
  const [id, its] = [String(call), typeof verb === 'string' ? verb : undefined];
  switch (entry.type) {
    case 'call.begun':
      if (its === undefined) return before;
      return begun(HANDED.test(id) ? before : leave(before, () => true), id, entry);
    case 'call.decided':
      return resolved(without(before, id), its);
    case 'call.ended':
      return leave(before, (intent) => intent === id);
    default:
      return moved(before, intentOf(entry), entry);
  }
}

/** Their maker has left these calls, which ends those that were never armed. */
function leave(before: Calls, isLeft: (intent: string) => boolean): Calls {
  const calls = before.calls.flatMap(([intent, call]): Calls['calls'] => {
    if (!isLeft(intent)) return [[intent, call]];
    const { state = 'preparing' } = call.send ?? {};
    return state === 'preparing' || state === 'prepared' ? [] : [[intent, { ...call, isLeft: true }]];
  });
  return { ...before, calls };
}

/** Taken up again, its new input counts, and its place stays. */
function begun(before: Calls, id: string, { seq, body }: Entry): Calls {
  const { verb, input } = fieldsOf(body);
  const given = fieldsOf(input) as Call['input'];
  const its = before.run === undefined && typeof verb === 'string' ? { verb } : {};
  const known = before.calls.find(([intent]) => intent === id)?.[1];
  return put(before, id, { seq, ...known, ...its, input: given });
}

/** Removes a send whose state is final. */
function moved(before: Calls, id: string | undefined, entry: Entry): Calls {
  const known = id === undefined ? undefined : before.calls.find(([intent]) => intent === id)?.[1];
  const send = known && sendAfter(known.send, entry);
  if (id === undefined || known === undefined || send === undefined) return before;
  const armed = entry.type === 'intent.armed' && before.run !== undefined ? { armed: id } : {};
  if (!isOver(send)) return put({ ...before, ...armed }, id, { ...known, send });
  const after = without(before, id);
  return send.state === 'landed' ? resolved(after, known.verb ?? send.verb) : after;
}

/** A refused call is looked up before the next one of its verb, until one lands or a person decides. */
function resolved(before: Calls, verb: string | undefined): Calls {
  if (before.run !== undefined) return before;
  const calls = before.calls.filter(([, { verb: its, send, isLeft }]) => {
    return its !== verb || isLeft !== true || send === undefined || isInDoubt(send) || !isRefused(send);
  });
  return { ...before, calls };
}

function put(before: Calls, id: string, call: Call): Calls {
  const isKnown = before.calls.some(([intent]) => intent === id);
  const calls = before.calls.map((one): Calls['calls'][number] => (one[0] === id ? [id, call] : one));
  return { ...before, calls: isKnown ? calls : [...calls, [id, call]] };
}

function without(before: Calls, id: string): Calls {
  return { ...before, calls: before.calls.filter(([intent]) => intent !== id) };
}

function doubtsOfRow({ key: stream, value }: Pick<ProjectedRow, 'key' | 'value'>): readonly Doubt[] {
  const { run, calls } = value as unknown as Calls;
  return calls.flatMap(([intent, { verb = '', input, send }]): Doubt[] => {
    if (send === undefined || !isInDoubt(send)) return [];
    const { verb: prepared, armedAt, firstArmedAt, answer, isRefusal, lostAt, unclear } = send;
    const baseline = send.baseline as Json;
    const known = { intent, armedAt, firstArmedAt, baseline, answer, isRefusal, lostAt, unclear };
    if (run === undefined) return [{ ...known, verb, input, instance: stream.slice('instance/'.length) }];
    const { runId, instance, target, isOpen } = run;
    const { on, intent: _, ...given } = input;
    const isThere = target !== undefined && (on === 'target' || prepared === 'performRecovery');
    const where = isThere ? target : instance;
    return [{ ...known, verb: prepared ?? '', input: given, instance: where, run: { runId, isOpen } }];
  });
}
