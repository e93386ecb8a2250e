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

const RAN = 'schedule.ran';
const SET_UP = 'schedule.set-up';

/** When a schedule was due that last ran, or was set up; by its name. */
export async function lastTimes(
  journal: Pick<JournalReader, 'read'>,
): Promise<ReadonlyMap<string, { readonly at: string; readonly hasRun: boolean }>> {
  const found = new Map<string, { at: string; hasRun: boolean }>();
  for (const { type, body } of await journal.read(SCHEDULES_STREAM)) {
    const { schedule, at } = fieldsOf(body);
    if ((type === RAN || type === SET_UP) && typeof schedule === 'string' && typeof at === 'string')
      found.set(schedule, { at, hasRun: type === RAN });
  }
  return found;
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

/** Records the run of a schedule; false if it ran for this time, since one may be reported twice. */
export async function beginsNow(
  journal: Journal,
  { name }: Pick<ScheduleConfig, 'name'>,
  { at, late }: Due,
): Promise<boolean> {
  return holdingSchedules(journal, async (hold) => {
    const last = (await lastTimes(journal)).get(name);
    if (last?.hasRun === true && msOf(last.at) >= at.getTime()) return false;
    const body = { schedule: name, at: isoOf(at.getTime()), ...(late ? { late } : {}) };
    await journal.append([{ stream: SCHEDULES_STREAM, type: RAN, body }], [hold]);
    return true;
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
