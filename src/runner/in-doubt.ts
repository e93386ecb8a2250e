import type { Failure } from '../../machines/parts/failure.ts';
import type { Entry, Json, NewEntry, StreamName } from '../store/journal.ts';
import { DECISIONS, foldIntents, isUnsettled } from './intents.ts';

/** A call that may have left this machine, and of which nobody knows what became. */
export interface OpenCall {
  readonly intent: string;
  readonly verb: string;
  readonly armedAt: string;
  readonly input: Readonly<Record<string, Json>>;
  /** What the service showed when it was asked last, where that was not clear. */
  readonly unclear?: Failure | undefined;
}

/** The same with what it takes to find out, whoever sent it. */
export interface Doubt extends OpenCall {
  /** The instance that the call changes. */
  readonly instance: string;
  /** The run that sent it; undefined for a call that stands in the ledger of the instance. */
  readonly run?: { readonly runId: string; readonly isOpen: boolean };
  readonly baseline: Json;
  readonly lost?: Failure | undefined;
  /** When the answer was lost: what is under way is waited for from then on. */
  readonly lostAt?: string | undefined;
}

/** The entries of one run, from the first one on. */
export interface RunEntries {
  readonly stream: StreamName;
  readonly entries: readonly Entry[];
}

/** Another backup does no harm, so one in doubt keeps nobody from anything but asking for it again. */
const HARMLESS: ReadonlySet<string> = new Set(['createBackup']);

/**
 * Every call to an instance that was armed and is not settled, the oldest first: those in its ledger, and those of runs that have it as their
 * instance or target, whether they are open, over or given up. A call that a run has handed to the ledger is told once, by the ledger. Pure.
 */
export function doubtsOn(
  instance: string,
  ledger: readonly Entry[],
  runs: readonly RunEntries[],
): readonly Doubt[] {
  const handed = begunCalls(ledger);
  const own = openCalls(ledger).map((open): Doubt => {
    const { baseline, lost } = foldIntents(ledger).get(open.intent) ?? { baseline: null };
    return { ...open, instance, baseline, lost };
  });
  const others = runs
    .flatMap((run) => doubtsOfRun(run))
    .filter(
      (doubt) => doubt.instance === instance && !handed.has(handedName(doubt.run?.runId, doubt.intent)),
    );
  return [...own, ...others].sort((one, other) => one.armedAt.localeCompare(other.armedAt));
}

/** Whether the call may not be followed by another change before it is known what became of it. */
export function isGrave({ verb }: Pick<OpenCall, 'verb'>): boolean {
  return !HARMLESS.has(verb);
}

/** Calls of a ledger that were armed, and neither landed, nor absent, nor decided. Pure. */
export function openCalls(entries: readonly Entry[]): readonly OpenCall[] {
  const begun = begunCalls(entries);
  const decided = new Set(
    entries.flatMap(({ type, body }) => (type === 'call.decided' ? [fieldsOf(body).call] : [])),
  );
  return [...foldIntents(entries)].flatMap(([intent, memory]) => {
    const call = begun.get(intent);
    if (call === undefined || decided.has(intent) || !isUnsettled(memory)) return [];
    const { armedAt, unclear } = memory;
    return [{ intent, armedAt, ...call, ...(unclear === undefined ? {} : { unclear }) }];
  });
}

/** Calls of a run that were armed, and neither landed, nor absent, nor decided by whoever drove it. Pure. */
export function doubtsOfRun({ stream, entries }: RunEntries): readonly Doubt[] {
  const started = fieldsOf(entries[0]?.body);
  const { instance, target } = started;
  if (entries[0]?.type !== 'run.started' || instance === undefined) return [];
  const inputs = new Map<string, OpenCall['input']>();
  const decided = new Set<string>();
  let armed: string | undefined;
  for (const { type, body } of entries) {
    const { key, input, intent, event } = fieldsOf(body);
    if (type === 'activity.begun' && key !== undefined) inputs.set(key, input ?? {});
    else if (type === 'intent.armed') armed = intent;
    // A person is asked about one call at a time, which is the last one that was armed.
    else if (type === 'event' && armed !== undefined && DECISIONS.has(event?.type ?? '')) decided.add(armed);
  }
  const isOpen = !entries.some(({ type }) => type === 'run.closed' || type === 'run.abandoned');
  const run = { runId: stream.slice('run/'.length), isOpen };
  return [...foldIntents(entries)].flatMap(([intent, memory]) => {
    if (decided.has(intent) || !isUnsettled(memory)) return [];
    const { armedAt, baseline, lost, lostAt, unclear, verb = '' } = memory;
    const { on, intent: _, ...input } = inputs.get(intent) ?? {};
    const isThere = target !== undefined && (on === 'target' || verb === 'performRecovery');
    const where = isThere ? target : instance;
    return [{ intent, verb, armedAt, input, baseline, lost, lostAt, unclear, run, instance: where }];
  });
}

/**
 * Calls of a run that is over, as entries for the ledger: from then on they are open calls of the instance, which the next change of it asks
 * about and a person can settle. The moment at which they were armed is kept. Pure.
 */
export function handOn(doubts: readonly Doubt[]): readonly NewEntry[] {
  return doubts.flatMap(
    ({ instance, run, intent, verb, input, baseline, armedAt, lost, lostAt, unclear }) => {
      const call = handedName(run?.runId, intent);
      const mark = { intent: call, verb };
      const written: readonly (readonly [type: string, body: Json])[] = [
        ['call.begun', { call, verb, input, reason: `left in doubt by run ${run?.runId}` }],
        ['intent.prepared', { ...mark, baseline }],
        ['intent.armed', { ...mark, armedAt }],
        ...(lost === undefined
          ? []
          : [
              [
                'intent.outcome',
                { ...mark, sent: 'unknown', failure: asJson(lost), ...(lostAt && { lostAt }) },
              ] as const,
            ]),
        ...(unclear === undefined
          ? []
          : [['intent.judged', { ...mark, verdict: 'ambiguous', failure: asJson(unclear) }] as const]),
      ];
      return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
    },
  );
}

/** The name in the ledger of a call that a run has left; runs count theirs from nought, each for itself. */
export function handedName(runId: string | undefined, intent: string): string {
  return `run-${runId}-${intent}`;
}

function asJson(failure: Failure): Json {
  return failure as unknown as Json;
}

function begunCalls(entries: readonly Entry[]): ReadonlyMap<string, Pick<OpenCall, 'verb' | 'input'>> {
  return new Map(
    entries.flatMap(({ type, body }) => {
      const { call, verb, input } = fieldsOf(body);
      if (type !== 'call.begun' || call === undefined || verb === undefined) return [];
      return [[call, { verb, input: input ?? {} }] as const];
    }),
  );
}

/** The fields of the entries that are looked at here; what another version wrote otherwise is as good as missing. */
interface Fields {
  readonly call?: string;
  readonly verb?: string;
  readonly input?: OpenCall['input'];
  readonly instance?: string;
  readonly target?: string;
  readonly key?: string;
  readonly intent?: string;
  readonly event?: { readonly type?: string };
}

function fieldsOf(body: Json | undefined): Fields {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : {};
}
