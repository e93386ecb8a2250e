import { leftUnbound } from '../../../machines/parts/follow-up.ts';
import { counted, formatSeconds } from '../../base/format.ts';
import type { Report } from '../model/model.ts';
import type { Block, Figure, Section, Text } from './document.ts';
import { seconds, time } from './words.ts';

const KINDS = {
  real: 'a real recovery',
  rehearsal: 'a rehearsal',
  unknown: 'unknown',
} as const;

/** What stands above everything else. */
export function alarmBlocks({ alarms }: Report): Block[] {
  return alarms.map(({ title, text, at, by }) => ({
    kind: 'alarm',
    title,
    text: `${text} (${time(at)} UTC, by ${by})`,
  }));
}

/** What run it is, who did it when, and with what. */
export function headBlocks(report: Report): Block[] {
  const { run, people } = report;
  const acting = people.filter(({ roles }) => roles.includes('acted')).map(({ name }) => name);
  const rows: (readonly [string, Text])[] = [
    ['Run', { code: run.id }],
    ['Kind', KINDS[run.kind]],
    ['Runbook', run.runbook === undefined ? 'unknown' : `${run.runbook}, version ${run.version}`],
    ['Instance', run.instance ?? 'unknown'],
    ...said('Target', run.target),
    ['Mode', run.mode ?? 'unknown'],
    ['Operator', run.operator ?? 'unknown'],
    ['Acting', acting.join(', ')],
    ...said('Reason', run.reason),
    ...said('Incident', run.incidentAt),
    ['Started', run.startedAt ?? 'unknown'],
    ['Ended', run.endedAt ?? 'not yet'],
    ['Duration', duration(report)],
    ['Clock', clock(report)],
    [
      'Tool',
      run.tool === undefined ? 'unknown' : `${run.tool.name} ${run.tool.version}, Node ${run.tool.node}`,
    ],
  ];
  return [
    { kind: 'figures', figures: figures(report) },
    { kind: 'facts', caption: 'The run', rows },
  ];
}

export function outcomeSection({ outcome }: Report): Section {
  return { title: 'Outcome', blocks: [{ kind: 'text', text: outcomeText(outcome) }] };
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

/**
 * Only what is shown is good: what was skipped is not, and what somebody says to be done stands for itself.
 */
function figures({ outcome, measured, bound, deviations, alarms }: Report): Figure[] {
  const result = (label: string, one: NonNullable<Report['measured']>['rto']): Figure => ({
    label,
    value: seconds(one.measuredSeconds, one.result === 'does not apply' ? 'none' : 'not measured'),
    note: `limit ${seconds(one.limitSeconds, 'none set')}: ${one.result}${one.why === undefined ? '' : `: ${one.why}`}`,
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
    followUpsFigure(bound),
    {
      label: 'Deviations',
      value: String(deviations.length),
      note: deviations.length === 0 ? 'as the runbook has it' : 'listed below, with reasons',
      tone: alarms.length > 0 ? 'bad' : 'plain',
    },
  ];
}

const TONES = {
  met: 'good',
  missed: 'bad',
  'given up': 'bad',
  'not decided': 'plain',
  'does not apply': 'plain',
} as const;

/** How many are done, and apart from them those that are open, skipped, or shown by somebody's word alone. */
function followUpsFigure(followUps: Report['bound']): Figure {
  const open = followUps.filter(({ closed }) => closed === undefined).length;
  const skipped = followUps.filter(({ closed }) => closed?.how === 'skipped').length;
  const said = followUps.filter(({ closed, proofs }) => closed?.how === 'hand' && proofs.length === 0).length;
  const notes = [
    ...(open === 0 ? [] : [`${open} still open`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(said === 0 ? [] : [`${said} by the word of a person`]),
  ];
  const isBad = open > 0 || leftUnbound(followUps).length > 0;
  return {
    label: 'Follow-ups',
    value: followUps.length === 0 ? 'none' : `${followUps.length - open - skipped} of ${followUps.length}`,
    note: followUps.length === 0 ? 'the run opened none' : notes.join(', ') || 'all done',
    tone: isBad ? 'bad' : followUps.length > 0 && notes.length === 0 ? 'good' : 'plain',
  };
}

/** A row for what was given to this run, and none for what was not. */
function said(label: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[label, value]];
}

/** By the operator's clock, which may have been set in between. */
function duration({ run }: Report): string {
  if (run.endedAt === undefined) return 'not over';
  if (run.seconds === undefined) return 'unknown: the clock was set back';
  return formatSeconds(run.seconds);
}

function clock({ run }: Report): string {
  const moves = run.clockMovedSeconds.map(
    (seconds) =>
      `moved ${formatSeconds(Math.abs(seconds))} ${seconds < 0 ? 'back' : 'ahead'} during the run (lengths of time do not count it)`,
  );
  const own = [
    'that of the machine',
    ...(run.clockSetBack ? ['set back during the run'] : []),
    ...moves,
  ].join(', ');
  const ahead = run.serviceClockAheadSeconds;
  if (ahead === undefined) return `${own}; the clock of the service was not measured`;
  if (ahead === 0) return `${own}; the clock of the service agreed within a second`;
  return `${own}; the clock of the service was ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
}
