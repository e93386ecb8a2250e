import { basename } from 'node:path';
import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import { homeFolder } from '../../config/load.ts';
import { listRuns } from '../../runner/runs.ts';
import { drillHomes, drillsFolder, inDrill } from '../drill/drill-homes.ts';
import { readRecord } from '../drill/drill-records.ts';
import { isDrillName, isOwnFolder, removeDrill } from '../drill/keep-drills.ts';
import { folderSize } from './folder-size.ts';
import type { Removable } from './removable.ts';

/**
 * Homes of rehearsals that left no record of a drill: those of earlier versions. Only folders below the
 * drills of this home, whose journal can be read and holds nothing but rehearsals, none of them open.
 */
export async function findHomes(context: CommandContext, beforeMs: number): Promise<readonly Removable[]> {
  const links = drillsFolder(homeFolder(context.env));
  const found: Removable[] = [];
  for (const path of drillHomes(context.env)) {
    if (!isDrillName(basename(path)) || !isOwnFolder(path) || readRecord(path) !== undefined) continue;
    const at = await closedAt(inDrill(context, path).env);
    if (at === undefined || Date.parse(at) >= beforeMs) continue;
    found.push({
      kind: 'home',
      path,
      what: 'a rehearsal without a record of its drill',
      at,
      bytes: folderSize(path),
      remove: () => removeDrill({ path }, links),
    });
  }
  return found;
}

/**
 * When the last of its runs ended; undefined where one is open, is none of a rehearsal, or nobody can tell.
 */
async function closedAt(env: CommandContext['env']): Promise<string | undefined> {
  try {
    const journal = await openJournalIfAny({ env });
    try {
      const runs = journal === undefined ? [] : await listRuns(journal);
      const isOver = runs.every(({ mode, status }) => mode === 'REHEARSAL' && status !== 'open');
      return isOver
        ? runs
            .map(({ lastAt }) => lastAt)
            .toSorted()
            .at(-1)
        : undefined;
    } finally {
      await journal?.close();
    }
  } catch {
    return undefined;
  }
}
