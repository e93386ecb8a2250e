import { PackedMap } from '../../base/packed.ts';
import { type FleetRow, rowOf } from '../../view/app/fleet-row.ts';
import { HOLDS_MS, type InstanceFacts, nothingAsked } from '../../view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../view/fleet/status-schema.ts';

/** What the config says of an instance. */
export type About = Parameters<typeof nothingAsked>[0];

export interface FleetNames {
  readonly names: readonly string[];
  /** The target that the config gives an instance. */
  readonly targetOf: (name: string) => string | undefined;
  readonly aboutOf: (name: string) => About;
}

/** As many statuses stay judged: more than any screen shows. */
const MOST_JUDGED = 400;

/** Milliseconds that a row holds, for each instance of the fleet: judging one takes a sixtieth of it. */
const ROW_MS = 6;

/**
 * The facts of all instances of a board, and the row of each. The facts are kept as bytes: as objects, those
 * of ten thousand take 100 MiB, and few are looked at. A row is judged again when the facts of its instance
 * or of its target change, and after a while: of ten thousand rows a few at each look, each once a minute.
 */
export class KeptFleet {
  readonly #fleet: FleetNames;
  readonly #kept = new Map<string, Kept>();
  readonly #records = new PackedMap<InstanceFacts['record']>();
  readonly #answers = new PackedMap<Partial<InstanceFacts>>();
  readonly #sources: ReadonlyMap<string | undefined, readonly string[]>;
  readonly #judged = new Map<string, Judged>();
  readonly #holdsMs: number;
  /** All of them stay judged. */
  readonly #isFew: boolean;

  constructor(fleet: FleetNames) {
    this.#fleet = fleet;
    this.#sources = Map.groupBy(fleet.names, fleet.targetOf);
    this.#holdsMs = Math.max(HOLDS_MS, fleet.names.length * ROW_MS);
    this.#isFew = fleet.names.length <= MOST_JUDGED;
    for (const [at, name] of fleet.names.entries()) {
      const apartMs = this.#isFew ? 0 : at * ROW_MS;
      this.#kept.set(name, { isLocked: false, row: undefined, period: 0, apartMs });
    }
  }

  keepRecord(name: string, record: InstanceFacts['record']): void {
    this.#records.set(name, record);
    this.#changed(name);
  }

  /** What it answered; its record stays as it is, and so does a disk that was not asked for again. */
  keepAnswers({ name, record: _, target: __, ...facts }: InstanceFacts): void {
    const { role, objectives, cryptoperiod, policy, ...answered } = facts;
    const disk = answered.disk ?? this.#answers.get(name)?.disk;
    this.#answers.set(name, disk === undefined ? answered : { ...answered, disk });
    const kept = this.#kept.get(name);
    if (kept !== undefined) kept.isLocked = answered.held.state === 'failed';
    this.#changed(name);
  }

  recordOf(name: string): InstanceFacts['record'] {
    return this.#records.get(name) ?? { state: 'unasked' };
  }

  /** With those of its target. */
  factsOf(name: string): InstanceFacts {
    const target = this.#fleet.targetOf(name);
    const facts = this.#factsOf(name);
    return target === undefined || !this.#kept.has(target)
      ? facts
      : { ...facts, target: this.#factsOf(target) };
  }

  /** Its keys could not be listed, perhaps because the key store was locked. */
  isLocked(name: string): boolean {
    return this.#kept.get(name)?.isLocked === true;
  }

  /** In the order of the config. */
  rowsAt(now: Date): readonly FleetRow[] {
    return this.#fleet.names.flatMap((name) => this.#rowAt(name, now) ?? []);
  }

  #rowAt(name: string, now: Date): FleetRow | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    const period = Math.floor((now.getTime() + kept.apartMs) / this.#holdsMs);
    // Of two looks at about the same time, the second may be at an earlier one.
    if (kept.row !== undefined && (kept.period === period || kept.period === period + 1)) return kept.row;
    const status = this.#isFew ? this.#statusAt(name, now) : instanceStatus(this.factsOf(name), now);
    kept.row = rowOf(status, this.#judgeLater(name));
    kept.period = period;
    return kept.row;
  }

  /** Of its own, so that it keeps no status. */
  #judgeLater(name: string): () => InstanceStatus {
    return () => this.#statusAt(name, new Date());
  }

  #statusAt(name: string, now: Date): InstanceStatus {
    const period = Math.floor(now.getTime() / HOLDS_MS);
    const known = this.#judged.get(name);
    if (known?.period === period) return known.status;
    const status = instanceStatus(this.factsOf(name), now);
    this.#judged.delete(name);
    this.#judged.set(name, { period, status });
    const [oldest = ''] = this.#judged.keys();
    if (this.#judged.size > MOST_JUDGED) this.#judged.delete(oldest);
    return status;
  }

  #factsOf(name: string): InstanceFacts {
    const record = this.#records.get(name);
    return {
      ...nothingAsked(this.#fleet.aboutOf(name)),
      ...this.#answers.get(name),
      ...(record === undefined ? {} : { record }),
    };
  }

  /** It and its sources are judged again. */
  #changed(name: string): void {
    for (const one of [name, ...(this.#sources.get(name) ?? [])]) {
      this.#judged.delete(one);
      const its = this.#kept.get(one);
      if (its !== undefined) its.row = undefined;
    }
  }
}

interface Kept {
  isLocked: boolean;
  row: FleetRow | undefined;
  /** The while in which the row was judged; those of other rows begin at other times. */
  period: number;
  apartMs: number;
}

interface Judged {
  readonly period: number;
  readonly status: InstanceStatus;
}
