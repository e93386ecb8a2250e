import { leftUnbound } from '../../../machines/parts/unfinished.ts';
import { counted, formatBytes, formatSeconds } from '../../base/format.ts';
import type { Measured, Report } from '../model/model.ts';
import type { FollowUpRow } from '../model/model-rows.ts';
import { FOLLOW_UP } from '../model/rotation.ts';
import {
  alarmText,
  type Block,
  deviationText,
  type Figure,
  given,
  type Inline,
  inlines,
  seconds,
  type Text,
  time,
} from './document.ts';

/** The first page, for readers of nothing else. */
export function summaryBlocks(report: Report): Block[] {
  return [
    ...report.alarms.map((alarm): Block => ({ kind: 'alarm', title: alarm.title, text: alarmText(alarm) })),
    { kind: 'figures', figures: figures(report) },
    { kind: 'facts', caption: 'Summary', rows: summaryRows(report) },
  ];
}

function summaryRows(report: Report): (readonly [string, Text])[] {
  const { measured, comparison, evidence, blanks, signOff } = report;
  return [
    ['What was done', whatWasDone(report)],
    ['Result', outcomeText(report.outcome)],
    ...given('Objectives', measured && objectivesText(measured)),
    ...given('What was lost', measured?.restores === true ? lossText(measured) : undefined),
    ...given('Data brought back', volumeText(report)),
    ...given('Applications', applicationsText(report.followUps)),
    ...given('Rows compared', comparison && comparedText(comparison)),
    ['What is open', openText(report)],
    ['Deviations from the runbook', deviationsText(report)],
    ['Anchor for the ticket', evidence.anchor === undefined ? 'None.' : { code: evidence.anchor }],
    [
      'To be filled in by people',
      `${counted(blanks.length, 'line')}, and the sign-off by ${signOff.length} people.`,
    ],
  ];
}

function whatWasDone({ run }: Report): string {
  if (run.runbook === undefined) return 'The journal does not name a runbook.';
  const into = run.target === undefined ? '' : ` into ${run.target}`;
  const rehearsal = run.kind === 'rehearsal' ? ', as a rehearsal' : '';
  const when = `${time(run.startedAt)} to ${run.endedAt === undefined ? 'now' : time(run.endedAt)}`;
  return `${run.runbook} on ${run.instance}${into}${rehearsal}, by ${run.operator ?? 'an operator who is not named'}, ${when}.`;
}

function outcomeText({ status, proven, text, failure, followUps }: Report['outcome']): Text {
  if (status === 'closed') {
    const proof = proven === true ? { good: 'proven' } : { bad: 'not proven' };
    const why = failure === undefined ? '' : ` Failure: ${failure}.`;
    return [{ strong: text }, '. The result is ', proof, `.${why}`];
  }
  const open: Text = followUps === 0 ? '' : { bad: `It has ${counted(followUps, 'open follow-up')}.` };
  if (status === 'abandoned') return [{ bad: 'Abandoned' }, `: ${text}. `, open];
  const where = text === '' ? ' ' : ` It is at: ${text}. `;
  return [
    { bad: 'This run is still open.' },
    where,
    open,
    followUps === 0 ? '' : ' ',
    'The record ends with its last entry.',
  ];
}

function objectivesText({ rto, rpo, restores }: Measured): Text {
  return [
    ...objectiveText('Recovery time', rto),
    ...(restores ? [' ', ...objectiveText('Recovery point', rpo)] : []),
  ];
}

function objectiveText(label: string, one: Measured['rto']): Inline[] {
  const figure = seconds(one.measuredSeconds, 'not measured');
  const limit = one.limitSeconds === undefined ? 'no limit set' : `limit ${formatSeconds(one.limitSeconds)}`;
  const why = one.why === undefined ? '' : ` (${one.why})`;
  const joint = one.result === 'given up' ? ' after ' : ': ';
  return [`${label} `, verdictOf(one.result), `${joint}${figure}, ${limit}${why}.`];
}

function verdictOf(result: Measured['rto']['result']): Inline {
  if (result === 'met') return { good: result };
  return result === 'missed' || result === 'given up' ? { bad: result } : result;
}

function lossText({ point, rpo }: Measured): string {
  if (point === undefined || rpo.measuredSeconds === undefined)
    return `Not known: the recovery point was not measured${rpo.why === undefined ? '' : ` (${rpo.why})`}.`;
  const until = `${time(point.lostAt)} UTC (${point.lostBy})`;
  const most = point.mostLostMs === undefined ? '' : mostText(point.mostLostMs);
  return rpo.measuredSeconds === 0
    ? `Nothing that was written before ${until}.${most}`
    : `What was written in the ${formatSeconds(rpo.measuredSeconds)} from ${time(point.recoveredTo)} to ${until}.${most}`;
}

/** Writes between the count and the restore were not observed. */
function mostText(mostLostMs: number): string {
  return ` The data was counted before the restore was sent: at most ${formatSeconds(mostLostMs / 1000)} were lost.`;
}

/** The size of the restored backup, as reported by the service; else the number of rows in the data. */
function volumeText({ recoveryPoint, reconciliation }: Report): string | undefined {
  const factOf = (wanted: string) => recoveryPoint.find(({ label }) => label === wanted)?.value;
  const [bytes, backup] = [Number(factOf('Size in bytes')), factOf('Backup')];
  const rows = Number(reconciliation.findLast(({ when }) => when === 'after')?.count);
  if (!(bytes > 0)) return !(rows > 0) ? undefined : `${counted(rows, 'row')}, as the data itself says.`;
  return `${formatBytes(bytes)}, the size of ${backup === undefined ? 'the backup' : `backup ${backup}`}.`;
}

/** Only shown or claimed ones count as bound again. */
function applicationsText(followUps: readonly FollowUpRow[]): Text | undefined {
  const apps = followUps.filter(({ kind }) => kind === 'rebind');
  if (apps.length === 0) return undefined;
  const bound = apps.filter(({ closed }) => closed !== undefined && closed.how !== 'skipped');
  const text = `${bound.length} of ${apps.length} bound again`;
  return bound.length === apps.length ? `${text}.` : [{ bad: text }, '.'];
}

function comparedText({ proven, tables }: NonNullable<Report['comparison']>): Text {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const verdict = proven ? { good: 'as expected' } : { bad: 'NOT as expected' };
  return [`${counted(rows, 'row')} in ${counted(tables.length, 'table')}: `, verdict, '.'];
}

function openText({ outcome, followUps: all, rotation }: Report): Text {
  const open = all.filter(({ closed }) => closed === undefined);
  const skipped = all.filter(({ closed }) => closed?.how === 'skipped');
  const run = outcome.status === 'open' ? [{ bad: 'The run itself.' }] : [];
  const followUps =
    open.length === 0 ? [] : [{ bad: counted(open.length, 'follow-up') }, `: ${named(open)}.`];
  const both = run.length > 0 && followUps.length > 0 ? [...run, ' ', ...followUps] : [...run, ...followUps];
  const later = handedOver(rotation);
  const nothing = later.length === 0 ? ['Nothing.'] : [];
  return [
    ...(both.length === 0 ? nothing : both),
    ...(later.length === 0
      ? []
      : [both.length === 0 ? '' : ' ', `In the ledger of the instance, for later: ${later.join('; ')}.`]),
    ...(skipped.length === 0 ? [] : [' ', { strong: 'Skipped' }, `: ${named(skipped)}.`]),
  ];
}

function handedOver(rotation: Report['rotation']): readonly string[] {
  return (rotation?.disposition ?? []).flatMap(({ label, value }) => (label === FOLLOW_UP ? [value] : []));
}

/** The rest is in their section. */
const MAX_DEVIATIONS = 5;

/** The steps of a run report their omissions at its end, so before it the list is incomplete. */
function deviationsText({ deviations, outcome }: Report): Text {
  const isOpen = outcome.status === 'open';
  if (deviations.length === 0) return isOpen ? 'None so far.' : 'None.';
  const shown = deviations.slice(0, MAX_DEVIATIONS).flatMap((one, at) => {
    return [at === 0 ? '' : '; ', ...inlines(deviationText(one))];
  });
  const more = deviations.length - MAX_DEVIATIONS;
  return [...(isOpen ? [{ strong: 'So far' }, ': '] : []), ...shown, more > 0 ? `; ${more} more.` : '.'];
}

function named(followUps: readonly FollowUpRow[]): string {
  return followUps.map(({ what }) => what).join('; ');
}

/** Only shown results are good: a skipped one is not, and a person's claim is marked as such. */
function figures({ outcome, measured, followUps, deviations, alarms, rotation }: Report): Figure[] {
  const result = (label: string, one: Measured['rto']): Figure => ({
    label,
    value: seconds(one.measuredSeconds, one.result === 'does not apply' ? 'none' : 'not measured'),
    note:
      `limit ${seconds(one.limitSeconds, 'none set')}: ` +
      `${one.result}${one.why === undefined ? '' : `: ${one.why}`}`,
    tone: TONES[one.result],
  });
  return [
    {
      label: 'Result',
      value:
        outcome.status === 'closed' ? (outcome.proven === true ? 'proven' : 'not proven') : outcome.status,
      note: outcome.text,
      tone: outcome.proven === true ? 'good' : 'bad',
    },
    ...(measured === undefined
      ? []
      : [result('Recovery time (RTO)', measured.rto), result('Recovery point (RPO)', measured.rpo)]),
    followUpsFigure(followUps, handedOver(rotation).length),
    {
      label: 'Deviations',
      value: String(deviations.length),
      note: deviationsNote(deviations.length, outcome.status === 'open'),
      tone: alarms.length > 0 ? 'bad' : 'plain',
    },
  ];
}

function deviationsNote(count: number, isOpen: boolean): string {
  if (isOpen) return count === 0 ? 'none so far' : 'so far; listed below, with reasons';
  return count === 0 ? 'done as the runbook says' : 'listed below, with reasons';
}

const TONES = {
  met: 'good',
  missed: 'bad',
  'given up': 'bad',
  'not decided': 'plain',
  'does not apply': 'plain',
} as const;

function followUpsFigure(followUps: readonly FollowUpRow[], later: number): Figure {
  if (followUps.length === 0 && later > 0)
    return { label: 'Follow-ups', value: `${later} for later`, note: 'see Key rotation', tone: 'plain' };
  const open = followUps.filter(({ closed }) => closed === undefined).length;
  const skipped = followUps.filter(({ closed }) => closed?.how === 'skipped').length;
  const said = followUps.filter(({ closed, proofs }) => closed?.how === 'hand' && proofs.length === 0).length;
  const notes = [
    ...(open === 0 ? [] : [`${open} still open`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(said === 0 ? [] : [`${said} stated by a person, not shown`]),
  ];
  const isBad = open > 0 || leftUnbound(followUps).length > 0;
  return {
    label: 'Follow-ups',
    value: followUps.length === 0 ? 'none' : `${followUps.length - open - skipped} of ${followUps.length}`,
    note: followUps.length === 0 ? 'the run opened none' : notes.join(', ') || 'all done',
    tone: isBad ? 'bad' : followUps.length > 0 && notes.length === 0 ? 'good' : 'plain',
  };
}
