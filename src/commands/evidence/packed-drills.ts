import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import type { Evidence, EvidenceRun } from '../../evidence/evidence-schema.ts';
import type { Span } from '../../evidence/period.ts';
import { type DrillRecord, drillReportOf } from '../../report/drill/drill-report.ts';
import { renderDrill } from '../../report/render-report.ts';
import { drillsFolder, inDrill, journalIn } from '../drill/drill-homes.ts';
import { isDrillName } from '../drill/drill-records.ts';
import type { Pack, Part } from './pack.ts';
import { type Ground, packRecord } from './packed-record.ts';
import { readRecord, readRuns } from './record.ts';

type DrillRow = Evidence['drills'][number];

/** Each drill is a part, from its own record. */
export interface DrillGround extends Omit<Ground, 'journal' | 'record' | 'part' | 'at' | 'drill'> {
  readonly pack: Pick<Pack, 'part'>;
  /** How often a drill is due, in milliseconds. */
  readonly every: number | undefined;
}

/** The drills of these that were under way in a period. One without an end that a process still runs is. */
export function drillsIn(drills: readonly DrillRecord[], span: Span): readonly DrillRecord[] {
  return drills.filter(
    ({ id, begunAt, endedAt }) =>
      isDrillName(id) && msOf(begunAt) < span.until && !(msOf(endedAt ?? begunAt) < span.from),
  );
}

/** Packs drills one at a time, the report of each and its runs; each is compared with those of `all`. */
export async function packDrills(
  ground: DrillGround,
  drills: readonly DrillRecord[],
  all: readonly DrillRecord[],
): Promise<{ readonly drills: readonly DrillRow[]; readonly runs: readonly EvidenceRun[] }> {
  const rows: DrillRow[] = [];
  const runs: EvidenceRun[] = [];
  for (const drill of drills) {
    const { id, scope, begunAt, endedAt, outcome, chapters } = drill;
    const before = all.filter((one) => msOf(one.begunAt) <= msOf(begunAt));
    const report = drillReportOf(drill, before, ground.every, new Date());
    const part = ground.pack.part(`drills/${id}`);
    for (const format of ['html', 'json'] as const)
      part.put(`report.${format}`, renderDrill(report, format, ground.brand));
    const { verdict, ...own } = await runsOf(ground, part, id);
    runs.push(...own.runs);
    rows.push({
      ...{ id, scope, begunAt, outcome, chapters: chapters.length, report: `drills/${id}/report.html` },
      ...(endedAt === undefined ? {} : { endedAt }),
      ...(verdict === undefined ? {} : { verdict }),
      proven: chapters.filter((chapter) => chapter.outcome === 'proven').length,
    });
  }
  return { drills: rows, runs };
}

async function runsOf(
  ground: DrillGround,
  part: Part,
  id: string,
): Promise<{ readonly verdict?: DrillRow['verdict']; readonly runs: readonly EvidenceRun[] }> {
  const home = join(drillsFolder(homeFolder(ground.context.env)), id);
  if (!existsSync(journalIn(home))) return { runs: [] };
  const context = inDrill(ground.context, home);
  const record = await readRecord(context);
  const { verdict, words } = record;
  if (verdict === 'not-intact') ground.limit(`drill ${id}: ${show(words, 300)}`);
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return { runs: [] };
  try {
    const own: Ground = { ...ground, context, journal, record, part, at: `drills/${id}/`, drill: id };
    const { rows, sign } = await packRecord(own, await readRuns(journal), []);
    if (sign !== undefined) part.seal(sign);
    return { verdict, runs: rows };
  } finally {
    await journal.close();
  }
}
