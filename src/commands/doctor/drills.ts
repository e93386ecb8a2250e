import type { LoadedConfig } from '../../config/loaded.ts';
import { drillDue } from '../../report/drill/drill-due.ts';
import { dueWords } from '../../report/drill/drill-words.ts';
import { knownDrills } from '../drill/drill-homes.ts';
import { attempt, type Check } from './check.ts';

/** Whether a drill is due; nothing where the config asks for none. */
export async function drillChecks(
  env: NodeJS.ProcessEnv,
  { drills }: Pick<LoadedConfig, 'drills'>,
): Promise<Check[]> {
  if (drills === undefined) return [];
  const records = await attempt('drills', async () => knownDrills(env));
  if ('check' in records) return [records.check];
  const due = drillDue(records.value, drills.every, new Date());
  const found = `next drill due: ${dueWords(due)}`;
  if (!due.isOverdue) return [{ what: 'drills', state: 'ok', found, hints: [] }];
  return [{ what: 'drills', state: 'warn', found, hints: ['make one: `lifeboat drill --auto`'] }];
}
