import { formatSeconds } from '../format.ts';
import type { DrillProof } from './drill-restore.ts';

/** What the config asks for, in milliseconds. */
export interface Objectives {
  readonly rto?: number | undefined;
  readonly rpo?: number | undefined;
}

/** The drill's part of the report, Markdown. */
export function drillReport(proof: DrillProof, objectives: Objectives): string {
  const tables = proof.tables.map(
    ({ name, rows, equal }) => `| ${name} | ${rows} | ${equal ? 'equal' : 'DIFFERENT'} |`,
  );
  return [
    '## Restored and compared',
    '',
    `Backup ${proof.backup} was decrypted with key ${proof.key}, brought back in a scratch database, and every row was compared with the`,
    'source, up to the newest order that the backup holds.',
    '',
    '| table | rows | compared with the source |',
    '|---|---|---|',
    ...tables,
    '',
    `- verdict: ${proof.verdict}`,
    `- everything from before the backup is in it, nothing from after it: ${proof.withinBackupTime ? 'yes' : 'NO'}`,
    `- RTO, from the start of the restore to the first answer: ${measured(proof.rtoSeconds, objectives.rto)}`,
    `- RPO, the age of the newest restored order when the restore began: ${measured(proof.rpoSeconds, objectives.rpo)}`,
    '',
  ].join('\n');
}

/** What a drill prints at its end. */
export function drillSummary(
  proof: DrillProof & { readonly report: string; readonly journal: string },
  objectives: Objectives,
): string {
  const tables = proof.tables
    .map(({ name, rows, equal }) => `${name} ${rows}${equal ? '' : ' (DIFFERENT)'}`)
    .join(', ');
  return [
    proof.equal ? 'drill: proven' : 'drill: NOT PROVEN',
    `  verdict: ${proof.verdict}: backup ${proof.backup}, opened with key ${proof.key}`,
    `  rows compared with the source: ${proof.rows} (${tables})`,
    `  RTO: ${measured(proof.rtoSeconds, objectives.rto)}, from the start of the restore to the first answer`,
    `  RPO: ${measured(proof.rpoSeconds, objectives.rpo)}, between the newest restored order and the newest at the source`,
    `  report: ${proof.report}`,
    `  journal: ${proof.journal} (run ${proof.runId})`,
    '',
  ].join('\n');
}

/** A measured time against its objective, where there is one. */
function measured(seconds: number, objectiveMs: number | undefined): string {
  const text = formatSeconds(seconds);
  if (objectiveMs === undefined) return text;
  const kept = seconds * 1000 <= objectiveMs ? 'kept' : 'MISSED';
  return `${text} (objective ${formatSeconds(objectiveMs / 1000)}: ${kept})`;
}
