import { formatSeconds } from '../format.ts';
import type { DrillProof } from './drill-restore.ts';

/** The drill's part of the report, Markdown. */
export function drillReport(proof: DrillProof): string {
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
    `- RTO, from the start of the restore to the first answer: ${formatSeconds(proof.rtoSeconds)}`,
    `- RPO, the age of the newest restored order when the restore began: ${formatSeconds(proof.rpoSeconds)}`,
    '',
  ].join('\n');
}

/** What a drill prints at its end. */
export function drillSummary(
  proof: DrillProof & { readonly report: string; readonly journal: string },
): string {
  const tables = proof.tables
    .map(({ name, rows, equal }) => `${name} ${rows}${equal ? '' : ' (DIFFERENT)'}`)
    .join(', ');
  return [
    proof.equal ? 'drill: proven' : 'drill: NOT PROVEN',
    `  verdict: ${proof.verdict}: backup ${proof.backup}, opened with key ${proof.key}`,
    `  rows compared with the source: ${proof.rows} (${tables})`,
    `  RTO: ${formatSeconds(proof.rtoSeconds)} from the start of the restore to the first answer`,
    `  RPO: ${formatSeconds(proof.rpoSeconds)} between the newest restored order and the newest at the source`,
    `  report: ${proof.report}`,
    `  journal: ${proof.journal} (run ${proof.runId})`,
    '',
  ].join('\n');
}
