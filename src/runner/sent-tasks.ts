import { effectOf } from '../../machines/verbs.ts';
import type { SentTask } from '../activities/activity.ts';
import { type Entry, fieldsOf } from '../store/journal.ts';
import { foldIntents } from '../store/projections/intents.ts';

/** The backups and restores that a run has asked for, first to last. Pure. */
export function sentTasks(entries: readonly Entry[]): readonly SentTask[] {
  const intents = foldIntents(entries);
  const sides = new Map(
    entries.flatMap(({ type, body }) => {
      const { key, input } = fieldsOf(body);
      return type === 'activity.begun' && typeof key === 'string' ? [[key, fieldsOf(input)['on']]] : [];
    }),
  );
  return [...intents].flatMap(([id, { verb = '', armedAt, baseline, landed }]) => {
    const effect = effectOf(verb);
    if (armedAt === undefined || (effect !== 'backup' && effect !== 'restore')) return [];
    const became = fieldsOf(landed ?? null)['id'];
    const on = sides.get(id) === 'target' ? { on: 'target' as const } : {};
    return [{ what: effect, ...on, baseline, ...(typeof became === 'number' ? { became } : {}) }];
  });
}
