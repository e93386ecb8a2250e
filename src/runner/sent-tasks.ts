import { effectOf } from '../../machines/verbs.ts';
import type { SentTask } from '../activities/activity.ts';
import { type Entry, fieldsOf, type Json } from '../store/journal.ts';
import { foldSends } from '../store/projections/sends.ts';

/** The backups and restores that a run requested, in order. Pure. */
export function sentTasks(entries: readonly Entry[]): readonly SentTask[] {
  const sides = new Map(
    entries.flatMap(({ type, body }) => {
      const { key, input } = fieldsOf(body);
      return type === 'activity.begun' && typeof key === 'string' ? [[key, fieldsOf(input)['on']]] : [];
    }),
  );
  return [...foldSends(entries)].flatMap(([id, { verb = '', armedAt, baseline, output }]) => {
    const effect = effectOf(verb);
    if (armedAt === undefined || (effect !== 'backup' && effect !== 'restore')) return [];
    const became = fieldsOf(output)['id'];
    const on = sides.get(id) === 'target' ? { on: 'target' as const } : {};
    return [
      { what: effect, ...on, baseline: baseline as Json, ...(typeof became === 'number' ? { became } : {}) },
    ];
  });
}
