import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { printTable } from '../../cli/print-table.ts';
import type { DrillDue } from '../../report/drill/drill-due.ts';
import { dueWords } from '../../report/drill/drill-words.ts';
import type { Answer, InstanceStatus, Verdict } from '../../view/fleet/fleet-status.ts';
import { briefly } from '../../view/follow-up-words.ts';

/** What `lifeboat status` has found out, at a moment. */
export interface FleetReport {
  readonly at: Date;
  readonly instances: readonly InstanceStatus[];
  readonly drills: DrillDue;
}

/** Prints it to stdout: as one object, or as a table with the reasons below it. */
export async function printStatus(context: CommandContext, report: FleetReport): Promise<void> {
  const { at, instances, drills } = report;
  await printResult(context, 'status', { at: at.toISOString(), items: instances, drills }, () =>
    printFleet(context, report),
  );
}

function printFleet(context: CommandContext, { instances, drills }: FleetReport): void {
  const columns = [
    { title: 'instance', gives: true },
    { title: 'recoverable' },
    { title: 'in place', drops: true },
    { title: 'elsewhere', drops: true },
    { title: 'newest backup' },
    { title: 'proven backup' },
    { title: 'key' },
    { title: 'card', drops: true },
    { title: 'point in time', drops: true },
    { title: 'recovered', drops: true },
    { title: 'follow-ups', drops: true },
  ];
  printTable(context, columns, instances.map(rowOf));
  for (const line of [...instances.flatMap(linesBelow), drillLine(drills)]) context.stdout.write(`${line}\n`);
}

const WORDS: Readonly<Record<Answer, string>> = { yes: 'yes', no: 'NO', unknown: 'unknown', empty: 'target' };

function rowOf(status: InstanceStatus): string[] {
  const { newestBackup, provenBackup, card, window, recovered, followUps } = status;
  return [
    status.name,
    WORDS[status.recoverable.answer],
    WORDS[status.inPlace.answer],
    WORDS[status.elsewhere.answer],
    backupCell(status, newestBackup),
    backupCell(status, provenBackup),
    keyCell(status),
    card === undefined ? journalCell(status) : briefly(card.ageSeconds),
    windowCell(window, status.parts.window.state),
    recovered === undefined ? journalCell(status) : briefly(recovered.ageSeconds),
    followUps === undefined ? '?' : followUpCell(followUps),
  ];
}

/** `3h 5m`, `2d 4h LATE` where it is older than the RPO, `none`, or `?` where it is not known. */
function backupCell(
  { parts }: InstanceStatus,
  backup: { readonly ageSeconds: number | undefined; readonly meetsRpo: boolean | undefined } | undefined,
): string {
  if (backup === undefined)
    return parts.backups.state === 'known' && parts.record.state === 'known' ? 'none' : '?';
  if (backup.ageSeconds === undefined) return '?';
  return `${briefly(backup.ageSeconds)}${backup.meetsRpo === false ? ' LATE' : ''}`;
}

function keyCell({ key: { possible, isProven } }: InstanceStatus): string {
  if (possible.length === 0) return '?';
  if (possible.some(({ isHeld }) => isHeld === false)) return 'MISSING';
  if (possible.some(({ isHeld }) => isHeld === undefined)) return '?';
  return isProven ? 'proven' : 'held';
}

function journalCell({ parts }: InstanceStatus): string {
  return parts.record.state === 'known' ? 'none' : '?';
}

function windowCell(window: InstanceStatus['window'], asked: string): string {
  if (window === 'none' || asked === 'missing') return 'none';
  if (window === undefined) return '?';
  return briefly((Date.parse(window.end) - Date.parse(window.start)) / 1000);
}

function followUpCell({ open, overdue }: NonNullable<InstanceStatus['followUps']>): string {
  if (open === 0) return '0';
  return overdue === 0 ? String(open) : `${open}, ${overdue} late`;
}

/** `drills: the last was proven 12d ago (full); next due: …`. */
function drillLine(due: DrillDue): string {
  const { last } = due;
  const was =
    last === undefined
      ? 'none is on record in this home'
      : `the last was ${OUTCOMES[last.outcome]} ${briefly(last.ageSeconds)} ago (${show(last.scope, 80)})`;
  return `drills: ${was}; next due: ${dueWords(due)}`;
}

const OUTCOMES: Readonly<Record<NonNullable<DrillDue['last']>['outcome'], string>> = {
  proven: 'proven',
  'not-proven': 'NOT PROVEN',
  failed: 'a FAILURE',
  left: 'left before its end',
  running: 'without an end',
};

/** Why, and what else is worth a word. */
function linesBelow(status: InstanceStatus): string[] {
  const { name, recoverable, inPlace, elsewhere, cautions, provenBackup } = status;
  const where = ({ code }: Verdict['reasons'][number]) => {
    const here = inPlace.reasons.some((reason) => reason.code === code);
    const there = elsewhere.reasons.some((reason) => reason.code === code);
    return here && there ? '' : here ? ' (in place)' : ' (elsewhere)';
  };
  return [
    ...recoverable.reasons.map(
      (reason) => `${name}: ${WORDS[reason.answer]}${where(reason)}: ${reason.text}`,
    ),
    ...cautions.map((caution) => `${name}: note: ${caution}`),
    ...(provenBackup?.isListed === false
      ? [`${name}: note: backup ${provenBackup.id}, proven ${formatTime(provenBackup.provenAt)} UTC, is gone`]
      : []),
  ];
}
