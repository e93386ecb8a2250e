import type { LoadedConfig } from '../../config/loaded.ts';
import type { Notice } from '../../notify/notice.ts';
import { drillDue } from '../../report/drill/drill-due.ts';
import { knownDrills } from '../drill/drill-records.ts';

/** That a drill is due, and that the newest one failed, as far as it is so now. */
export function drillNotices(
  env: NodeJS.ProcessEnv,
  { drills }: Pick<LoadedConfig, 'drills'>,
  now = new Date(),
): readonly Notice[] {
  const { last, lastProven, dueAt, isOverdue } = drillDue(knownDrills(env), drills?.every, now);
  const due: readonly Notice[] =
    isOverdue && dueAt !== undefined
      ? [
          {
            // Where none was ever proven, it is due at every moment, and told once.
            id: `drill-due/${lastProven === undefined ? 'first' : dueAt}`,
            event: 'drill-due',
            index: undefined,
            since: dueAt,
          },
        ]
      : [];
  if (last === undefined || !FAILED.has(last.outcome)) return due;
  const { id: drill, scope, at: since } = last;
  return [
    ...due,
    { id: `drill-failed/${drill}`, event: 'drill-failed', index: undefined, since, drill, scope },
  ];
}

/** A drill that somebody left is no failure. */
const FAILED: ReadonlySet<string> = new Set(['failed', 'not-proven']);
