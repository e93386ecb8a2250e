import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { LastSeen, PlatformRight } from '../../../machines/parts/recovery-data.ts';
import type { CheckId } from '../../base/check-id.ts';
import { dateAt } from '../../base/date.ts';
import type { Evaluated } from '../../store/projections/evaluations.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { Fact, Fleet } from '../app/sources.ts';
import type { ListedBackup } from './status-schema.ts';

/** `why` is one printable line, lower case. `missing`: the instance's interface has no such call. */
export type Part<Value> =
  | { readonly state: 'known'; readonly at: Date; readonly value: Value }
  | {
      readonly state: 'failed';
      readonly at: Date;
      readonly code: string;
      readonly why: string;
      readonly hints?: readonly string[];
    }
  | { readonly state: 'missing' }
  | { readonly state: 'unasked' };

/** The disk nearest to its parachute size, the fill at which the node is stopped. */
export interface DiskFill {
  /** As the service names node and disk; untrusted. */
  readonly name: string;
  /** 0 to 100; undefined if it is not reported. */
  readonly usedPercent: number | undefined;
  readonly threshold: number | undefined;
  /** The node was stopped because of it. */
  readonly isOpen: boolean;
}

/** By the first block. No proof: later blocks may be damaged. */
export interface BackupFit {
  readonly id: number;
  /** A fingerprint; undefined if no held key opens it. */
  readonly key?: string | undefined;
  /** Keys tried. */
  readonly tried: number;
}

/**
 * `until`: RFC 3339. `renewed`: a command gives a new token when needed. `unsaid`: neither the token nor the
 * config says.
 */
export type TokenValidity =
  | { readonly kind: 'until'; readonly until: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unsaid' };

/** From the journal. */
export interface InstanceRecord {
  readonly ledger: Ledger;
  readonly openRuns: readonly RunSummary[];
  /** Changes that may have been sent, without an outcome on record. */
  readonly inDoubt: readonly OpenCall[];
  readonly followUps: readonly FollowUp[];
  /** The newest proven run that recovered this instance or recovered into it, as a rehearsal or live. */
  readonly recovered?: RunSummary | undefined;
  /** Does the journal agree with the signatures in this home? Undefined if that was not checked. */
  readonly store?: { readonly trouble?: string | undefined } | undefined;
  /** The last proof that a holder can open a sealed copy, by recipient; RFC 3339. */
  readonly holders?: ReadonlyMap<string, string> | undefined;
  /** The last on record. */
  readonly evaluated?: Evaluated | undefined;
}

/** From the config. Times in milliseconds. */
export interface EvaluationPolicy {
  /** The interval for rehearsals of a restore. */
  readonly drillEvery?: number | undefined;
  readonly escrow?: {
    readonly recipients: readonly { readonly recipient: string }[];
    /** Recipients that must have a proof. */
    readonly atLeast: number;
    /** A proof counts for this time. */
    readonly proof: number;
    readonly places: readonly { readonly name: string }[];
  };
  /** Names of applications in the config; undefined if it has no list. */
  readonly apps?: readonly string[] | undefined;
  /** Includes expired ones. `until` is RFC 3339. */
  readonly waivers?: readonly {
    readonly check: CheckId;
    readonly reason: string;
    readonly until: string;
    readonly owner?: string | undefined;
  }[];
  /** The required interval, and the last evaluation by this home (RFC 3339). */
  readonly evaluate?: { readonly every: number; readonly lastAt?: string | undefined };
}

/** Each part is known, or fails, by itself. */
export interface InstanceFacts {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** Milliseconds. */
  readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined };
  /** Milliseconds that a key may be in force. */
  readonly cryptoperiod?: number | undefined;
  /** Missing: the config asks for nothing. */
  readonly policy?: EvaluationPolicy | undefined;
  /** As the service calls them; untrusted. */
  readonly overview: Part<{
    readonly state?: string | undefined;
    readonly plan?: string | undefined;
    readonly service?: string | undefined;
  }>;
  readonly token: Part<TokenValidity>;
  /** Of the platform's token; missing: the config names no platform by address. */
  readonly right: Part<PlatformRight>;
  /** From the config. */
  readonly target?: InstanceFacts | undefined;
  /** The last triggered first. `skewMs`: how far the service's clock is ahead; undefined if unknown. */
  readonly backups: Part<{
    readonly done: readonly ListedBackup[];
    readonly skewMs?: number | undefined;
    /** Rows that could not be read, a sentence each. */
    readonly unread?: readonly string[] | undefined;
    /** The service says that there is no data behind it. */
    readonly isSimulated?: true;
  }>;
  /** How many it lists, in any state; only asked of targets. */
  readonly restores?: Part<number> | undefined;
  /** The last list that was kept; only if there is no list now. */
  readonly seen?: LastSeen | undefined;
  /** RFC 3339; `none` without continuous archiving. */
  readonly window: Part<{ readonly start: string; readonly end: string } | 'none'>;
  /** `none` if the metrics report no parachute. Only requested where it is shown. */
  readonly disk?: Part<DiskFill | 'none'>;
  readonly record: Part<InstanceRecord>;
  /** By the first block of each tried backup; `failed` if none could be tried. */
  readonly fits?: Part<readonly BackupFit[]> | undefined;
  /** Fingerprints in the key store. */
  readonly held: Part<readonly string[]>;
}

export function knownOf<Value>(part: Part<Value> | undefined): Value | undefined {
  return part?.state === 'known' ? part.value : undefined;
}

/** Of the shown facts; undefined if none was read. */
export function oldestOf({
  overview,
  backups,
  window,
  record,
}: Pick<InstanceFacts, 'overview' | 'backups' | 'window' | 'record'>): Date | undefined {
  const times = [overview, backups, window, record].flatMap((part) => ('at' in part ? [part.at] : []));
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0];
}

/** Undefined if there is a value. */
export function whyUnknown(part: Part<unknown> | undefined): string | undefined {
  if (part === undefined || part.state === 'unasked') return 'waiting for the answer';
  if (part.state === 'failed') return `could not be read: ${part.why}`;
  return part.state === 'missing' ? 'the interface of this instance does not report it' : undefined;
}

export function nothingAsked(
  about: Pick<InstanceFacts, 'name' | 'role' | 'objectives' | 'cryptoperiod' | 'policy'>,
): InstanceFacts {
  const unasked = { state: 'unasked' } as const;
  const service = { overview: unasked, token: unasked, right: unasked, backups: unasked, window: unasked };
  return { ...about, ...service, record: unasked, held: unasked };
}

/** A judgement is reused for this time. */
export const HOLDS_MS = 5_000;

const judged = new WeakMap<Fleet, { readonly atMs: number; readonly fleet: Fleet }>();

/**
 * The last answers judged now, to 5 seconds. Returns the same object within the same 5 seconds, so that
 * memoised drawing is reused.
 */
export function fleetAt(fleet: Fleet, now: Date): Fleet {
  if (fleet.instancesAt === undefined) return fleet;
  const atMs = Math.floor(now.getTime() / HOLDS_MS) * HOLDS_MS;
  const known = judged.get(fleet);
  if (known?.atMs === atMs) return known.fleet;
  // An answer may be newer than the last full 5 seconds.
  const next = { ...fleet, instances: fleet.instancesAt(known === undefined ? now : dateAt(atMs)) };
  judged.set(fleet, { atMs, fleet: next });
  return next;
}

export function factAt(fact: Fact<Fleet>, now: Date): Fact<Fleet> {
  const { last } = fact;
  return last === undefined ? fact : { ...fact, last: { ...last, value: fleetAt(last.value, now) } };
}
