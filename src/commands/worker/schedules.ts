import { dateAt, isoOf } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { ScheduleConfig } from '../../config/schedules.ts';
import type { Due, Planned } from '../../queue/queue.ts';
import {
  fieldsOf,
  type Hold,
  type Journal,
  type JournalReader,
  type Json,
  type NewEntry,
  SCHEDULES_STREAM,
} from '../../store/journal.ts';
import { holdInTurn } from './hold-in-turn.ts';

const SET_UP = 'schedule.set-up';
const BEGUN = 'schedule.begun';
const RAN = 'schedule.ran';

/** What the record holds of a schedule. */
interface Known {
  /** When it was due as it last ran, or when it was set up. RFC 3339, as all times here. */
  readonly at: string;
  readonly hasRun: boolean;
  /** The last time for which it was begun, and when that was. */
  readonly begun?: { readonly at: string; readonly since: string };
}

/** By the name of the schedule. */
export async function lastTimes(journal: Pick<JournalReader, 'read'>): Promise<ReadonlyMap<string, Known>> {
  return new ScheduleRecord(journal).read();
}

/** The record of all schedules, of which each look reads only what is new. */
export class ScheduleRecord {
  readonly #journal: Pick<JournalReader, 'read'>;
  readonly #known = new Map<string, Known>();
  #seq = 0;

  constructor(journal: Pick<JournalReader, 'read'>) {
    this.#journal = journal;
  }

  /** Rejects with the errors of the journal. */
  async read(): Promise<ReadonlyMap<string, Known>> {
    for (const entry of await this.#journal.read(SCHEDULES_STREAM, this.#seq + 1)) {
      this.#seq = entry.seq;
      const { schedule, at } = fieldsOf(entry.body);
      if (typeof schedule !== 'string' || typeof at !== 'string') continue;
      const before = this.#known.get(schedule);
      if (entry.type === BEGUN)
        this.#known.set(schedule, {
          ...(before ?? { at, hasRun: false }),
          begun: { at, since: entry.at },
        });
      else if (entry.type === RAN || entry.type === SET_UP)
        this.#known.set(schedule, { ...before, at, hasRun: entry.type === RAN });
    }
    return this.#known;
  }
}

/** With their last runs. Records a new one, so that what falls due without a worker is found to be missed. */
export async function plannedSchedules(
  journal: Journal,
  { schedules }: Pick<LoadedConfig, 'schedules'>,
  now: Date,
): Promise<readonly Planned[]> {
  if (schedules.length === 0) return [];
  const known = await lastTimes(journal);
  const fresh = schedules.filter(({ name }) => !known.has(name));
  if (fresh.length > 0)
    await holdingSchedules(journal, async (hold) => {
      const at = isoOf(now.getTime());
      const entries = fresh.map(
        ({ name }): NewEntry => ({
          stream: SCHEDULES_STREAM,
          type: SET_UP,
          body: { schedule: name, at },
        }),
      );
      await journal.append(entries, [hold]);
    });
  return schedules.map((schedule) => ({
    ...{ name: schedule.name, cron: schedule.cron, zone: schedule.zone },
    what: schedule as unknown as Json,
    lastRan: dateAt(msOf(known.get(schedule.name)?.at) || now.getTime()),
  }));
}

/** A schedule that is to run now. */
export interface Beginning {
  /** When it was begun for this time first; its process may have died since. RFC 3339. */
  readonly since: string;
  readonly isAgain: boolean;
}

/**
 * Records that a schedule begins; undefined if it ran for this time, since one may be reported twice. One
 * that was begun and did not run, because its process died, begins again.
 */
export async function beginsNow(
  journal: Journal,
  record: ScheduleRecord,
  { name }: Pick<ScheduleConfig, 'name'>,
  { at, late }: Due,
): Promise<Beginning | undefined> {
  return holdingSchedules(journal, async (hold) => {
    const last = (await record.read()).get(name);
    if (last?.hasRun === true && msOf(last.at) >= at.getTime()) return undefined;
    const time = isoOf(at.getTime());
    if (last?.begun?.at === time) return { since: last.begun.since, isAgain: true };
    const body = { schedule: name, at: time, ...(late ? { late } : {}) };
    const [entry] = await journal.append([{ stream: SCHEDULES_STREAM, type: BEGUN, body }], [hold]);
    return { since: entry?.at ?? time, isAgain: false };
  });
}

/** Records that it ran for this time, with the exit code of its command. */
export async function hasRun(
  journal: Journal,
  { name }: Pick<ScheduleConfig, 'name'>,
  { at }: Pick<Due, 'at'>,
  code: number,
): Promise<void> {
  await holdingSchedules(journal, async (hold) => {
    const body = { schedule: name, at: isoOf(at.getTime()), code };
    await journal.append([{ stream: SCHEDULES_STREAM, type: RAN, body }], [hold]);
  });
}

/** How long another worker may take to write when a schedule has run. Milliseconds. */
const PATIENCE_MS = 10_000;

async function holdingSchedules<T>(journal: Journal, act: (hold: Hold) => Promise<T>): Promise<T> {
  const turn = await holdInTurn(journal, SCHEDULES_STREAM, PATIENCE_MS);
  // Without a turn, this says who has it.
  const hold = turn ?? (await journal.hold(SCHEDULES_STREAM));
  try {
    return await act(hold);
  } finally {
    await hold.release();
  }
}
