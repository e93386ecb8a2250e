import type { LoadedConfig } from '../../config/load.ts';
import { drillDue } from '../../report/drill/drill-due.ts';
import type { DrillRecord } from '../../report/drill/drill-record.ts';
import { dueWords } from '../../report/drill/drill-words.ts';
import type { Check } from './check.ts';

/** Whether a drill is due; nothing where the config asks for none. */
export function drillChecks(
  { drills }: Pick<LoadedConfig, 'drills'>,
  records: readonly DrillRecord[],
): Check[] {
  if (drills === undefined) return [];
  const due = drillDue(records, drills.every, new Date());
  const found = `next drill due: ${dueWords(due)}`;
  if (!due.isOverdue) return [{ what: 'drills', state: 'ok', found, hints: [] }];
  return [{ what: 'drills', state: 'warn', found, hints: ['make one: `lifeboat drill --auto`'] }];
}
