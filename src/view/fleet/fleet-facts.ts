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

/**
 * What one source says about an instance. `known` and `failed` say when; `why` is one printable line, lower
 * case. `unasked`: not asked yet. `missing`: the instance's interface has no such call.
 */
export type Part<Value> =
  | { readonly state: 'known'; readonly at: Date; readonly value: Value }
  | {
      readonly state: 'failed';
      readonly at: Date;
      readonly code: string;
      readonly why: string;
      /** What is safe to do next. */
      readonly hints?: readonly string[];
    }
  | { readonly state: 'missing' }
  | { readonly state: 'unasked' };

/** The disk nearest to its parachute size, the fill at which the node is stopped. */
export interface DiskFill {
  /** Node and disk as the service names them; untrusted. */
  readonly name: string;
  /** 0 to 100; undefined if it is not reported. */
  readonly usedPercent: number | undefined;
  readonly threshold: number | undefined;
  /** The node was stopped because the disk was too full. */
  readonly isOpen: boolean;
}

/** What the first block of a backup showed. It is no proof: later blocks may be damaged. */
export interface BackupFit {
  readonly id: number;
  /** Fingerprint of the key that opens it; undefined if none of the held keys does. */
  readonly key?: string | undefined;
  /** How many keys were tried. */
  readonly tried: number;
}

/**
 * How long the access token of an instance is valid. `until`: RFC 3339. `renewed`: a command gives a new one
 * whenever it is needed. `unsaid`: neither the token nor the config says it.
 */
export type TokenValidity =
  | { readonly kind: 'until'; readonly until: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unsaid' };

/** What the journal knows of one instance. */
export interface InstanceRecord {
  readonly ledger: Ledger;
  readonly openRuns: readonly RunSummary[];
  /** Calls that change this instance and may have been sent, without an outcome on record. */
  readonly inDoubt: readonly OpenCall[];
  readonly followUps: readonly FollowUp[];
  /** The newest proven run that recovered this instance or recovered into it, as a rehearsal or live. */
  readonly recovered?: RunSummary | undefined;
  /** Whether the journal agrees with what was signed in this home; undefined if that was not looked at. */
  readonly store?: { readonly trouble?: string | undefined } | undefined;
  /** When each holder of sealed copies last showed that they can open one, by recipient; RFC 3339. */
  readonly holders?: ReadonlyMap<string, string> | undefined;
  /** The last evaluation on record. */
  readonly evaluated?: Evaluated | undefined;
}

/** What the config says about the evaluation of an instance. Times in milliseconds. */
export interface EvaluationPolicy {
  /** How often a restore has to be rehearsed. */
  readonly drillEvery?: number | undefined;
  readonly escrow?: {
    readonly recipients: readonly { readonly recipient: string }[];
    /** How many of them have to have shown that they can open a copy. */
    readonly atLeast: number;
    /** How long that counts. */
    readonly proof: number;
    readonly places: readonly { readonly name: string }[];
  };
  /** How many applications the config names; undefined if it says nothing about them. */
  readonly apps?: number | undefined;
  /** Also those that are over. `until` is RFC 3339. */
  readonly waivers?: readonly {
    readonly check: CheckId;
    readonly reason: string;
    readonly until: string;
    readonly owner?: string | undefined;
  }[];
  /** How often the instance has to be evaluated, and when this home did so last (RFC 3339). */
  readonly evaluate?: { readonly every: number; readonly lastAt?: string | undefined };
}

/** All facts about one instance. Each part is known, or fails, by itself. */
export interface InstanceFacts {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** Milliseconds. */
  readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined };
  /** How long a key may be in force, in milliseconds; undefined if the config does not say. */
  readonly cryptoperiod?: number | undefined;
  /** Missing: the config asks for nothing. */
  readonly policy?: EvaluationPolicy | undefined;
  /** The instance's state, plan and service as the service calls them; untrusted. */
  readonly overview: Part<{
    readonly state?: string | undefined;
    readonly plan?: string | undefined;
    readonly service?: string | undefined;
  }>;
  readonly token: Part<TokenValidity>;
  /** What the platform's token may do with the instance; missing: the config names no platform by address. */
  readonly right: Part<PlatformRight>;
  /** The instance that it would be recovered into, if the config names one. */
  readonly target?: InstanceFacts | undefined;
  /**
   * The completed backups, the last triggered first. `skewMs`: how far the service's clock is ahead of ours;
   * undefined if it does not say.
   */
  readonly backups: Part<{
    readonly done: readonly ListedBackup[];
    readonly skewMs?: number | undefined;
    /** List rows that could not be read, a sentence for each. */
    readonly unread?: readonly string[] | undefined;
    /** The service has said that there is no data behind it. */
    readonly isSimulated?: true;
  }>;
  /** The last list of backups that was kept; only if it does not list them now. */
  readonly seen?: LastSeen | undefined;
  /** The range of a point-in-time restore, RFC 3339; `none` without continuous archiving. */
  readonly window: Part<{ readonly start: string; readonly end: string } | 'none'>;
  /** `none` if the metrics report no parachute. Only requested where it is shown. */
  readonly disk?: Part<DiskFill | 'none'>;
  readonly record: Part<InstanceRecord>;
  /** What the first block of each tried backup showed; `failed` if none could be tried. */
  readonly fits?: Part<readonly BackupFit[]> | undefined;
  /** Fingerprints of the keys that the key store holds for the instance. */
  readonly held: Part<readonly string[]>;
}

export function knownOf<Value>(part: Part<Value> | undefined): Value | undefined {
  return part?.state === 'known' ? part.value : undefined;
}

/** When the oldest shown fact of an instance was read; undefined if none was. */
export function oldestOf({
  overview,
  backups,
  window,
  record,
}: Pick<InstanceFacts, 'overview' | 'backups' | 'window' | 'record'>): Date | undefined {
  const times = [overview, backups, window, record].flatMap((part) => ('at' in part ? [part.at] : []));
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0];
}

/** Why there is no value, in words; undefined if there is one. */
export function whyUnknown(part: Part<unknown> | undefined): string | undefined {
  if (part === undefined || part.state === 'unasked') return 'waiting for the answer';
  if (part.state === 'failed') return `could not be read: ${part.why}`;
  return part.state === 'missing' ? 'the interface of this instance does not report it' : undefined;
}

/** An instance that was not asked anything yet. */
export function nothingAsked(
  about: Pick<InstanceFacts, 'name' | 'role' | 'objectives' | 'cryptoperiod' | 'policy'>,
): InstanceFacts {
  const unasked = { state: 'unasked' } as const;
  const service = { overview: unasked, token: unasked, right: unasked, backups: unasked, window: unasked };
  return { ...about, ...service, record: unasked, held: unasked };
}

/** A judgement is reused for this many milliseconds. */
export const HOLDS_MS = 5_000;

const judged = new WeakMap<Fleet, { readonly atMs: number; readonly fleet: Fleet }>();

/**
 * The fleet's last answers judged now, to 5 seconds. Returns the same object within the same 5 seconds, so
 * that memoised drawing is reused.
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

/** The known fleet, with its last answers judged now. */
export function factAt(fact: Fact<Fleet>, now: Date): Fact<Fleet> {
  const { last } = fact;
  return last === undefined ? fact : { ...fact, last: { ...last, value: fleetAt(last.value, now) } };
}
