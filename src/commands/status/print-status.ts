import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { DRILL_WORDS, type DrillDue, dueWords, futureDrillWords } from '../../report/drill/drill-report.ts';
import {
  ANSWER_WORDS,
  absenceWords,
  backupCell,
  cardCell,
  followUpCell,
  keyCell,
  NOT_FOUND_NEXT,
  newestCell,
  notesOf,
  objectivesCell,
  openerWords,
  recoveredCell,
  seenWords,
  serviceCell,
  wayOf,
  windowCell,
} from '../../view/app/status-cells.ts';
import type { InstanceStatus, Verdict } from '../../view/fleet/status-schema.ts';
import { briefly } from '../../view/follow-up-words.ts';

/** What `lifeboat status` found at one moment. */
export interface FleetReport {
  readonly at: Date;
  readonly instances: readonly InstanceStatus[];
  readonly drills: DrillDue;
}

/** Prints the report to stdout: as one object, or as a table with the reasons below it. */
export async function printStatus(context: CommandContext, report: FleetReport): Promise<void> {
  const { at, instances, drills } = report;
  await printResult(context, 'status', { at: at.toISOString(), items: instances, drills }, () =>
    printFleet(context, report),
  );
}

function printFleet(context: CommandContext, { at, instances, drills }: FleetReport): void {
  const columns = [
    { title: 'instance', gives: true },
    { title: 'recoverable' },
    { title: 'within RPO' },
    { title: 'in service' },
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
  const lines = [...instances.flatMap((status) => linesBelow(status, at)), drillLine(drills)];
  for (const line of lines) context.stdout.write(`${line}\n`);
}

function rowOf(status: InstanceStatus): string[] {
  return [
    status.name,
    ANSWER_WORDS[status.recoverable.answer],
    objectivesCell(status),
    serviceCell(status),
    ANSWER_WORDS[status.inPlace.answer],
    ANSWER_WORDS[status.elsewhere.answer],
    newestCell(status),
    backupCell(status, status.provenBackup),
    keyCell(status),
    cardCell(status),
    windowCell(status),
    recoveredCell(status),
    followUpCell(status),
  ];
}

/** `drills: the last was proven 12d ago (full); next due: …`. */
function drillLine(due: DrillDue): string {
  const { last } = due;
  const was =
    last === undefined
      ? 'none is on record in this home'
      : `the last was ${DRILL_WORDS[last.outcome]} ${briefly(last.ageSeconds)} ago (${show(last.scope, 80)})`;
  const future = futureDrillWords(due);
  const warning = future === undefined ? '' : `\ndrills: warning: ${future}`;
  return `drills: ${was}; next due: ${dueWords(due)}${warning}`;
}

/** The reasons, and other notes. */
function linesBelow(status: InstanceStatus, now: Date): string[] {
  const { name, recoverable, objectives, inService } = status;
  const [seen, absent, opener] = [seenWords(status), absenceWords(status, now), openerWords(status)];
  const reasonsOf = (what: string, verdict: Verdict | undefined) =>
    (verdict?.reasons ?? []).map(({ answer, text }) => `${name}: ${ANSWER_WORDS[answer]} (${what}): ${text}`);
  return [
    ...(absent === undefined ? [] : [`${name}: ${absent}`]),
    ...(status.notFound === undefined ? [] : [`${name}: ${NOT_FOUND_NEXT}`]),
    ...recoverable.reasons.map((reason) => {
      const way = wayOf(status, reason);
      return `${name}: ${ANSWER_WORDS[reason.answer]}${way === '' ? '' : ` (${way})`}: ${reason.text}`;
    }),
    ...reasonsOf('within RPO', objectives),
    ...(absent === undefined ? reasonsOf('in service', inService) : []),
    // The backup that a recovery would take deserves a line unless it is simply the newest.
    ...(opener === undefined || (recoverable.answer === 'yes' && absent === undefined)
      ? []
      : [`${name}: would take: ${opener}`]),
    ...(seen === undefined ? [] : [`${name}: newest backup: ${seen}`]),
    ...notesOf(status).map((note) => `${name}: note: ${note}`),
  ];
}
