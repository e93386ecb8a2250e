import { counted, formatSeconds } from '../../base/format.ts';
import {
  alarmText,
  type Block,
  type Figure,
  type Inline,
  seconds,
  type Text,
  time,
} from '../render/document.ts';
import type { PlanReport } from './plan-report.ts';

/** The first page: alarms, figures, and a summary in words. */
export function planSummary(report: PlanReport): Block[] {
  const { alarms, run, outcome, asked, open, deviations, blanks: left, signOff, evidence } = report;
  const when = `${time(run.startedAt)} to ${run.endedAt === undefined ? 'now' : time(run.endedAt)}`;
  return [
    ...alarms.map((alarm): Block => ({ kind: 'alarm', title: alarm.title, text: alarmText(alarm) })),
    { kind: 'figures', figures: figuresOf(report) },
    {
      kind: 'facts',
      caption: 'Summary',
      rows: [
        ['What was asked', asked.purpose ?? NOT_SAID],
        [
          'What was done',
          `plan ${run.plan}, ${run.kind === 'real' ? 'for real' : 'as a rehearsal'}, by ${run.operator}, ${when}.`,
        ],
        ['Result', outcomeText(outcome)],
        ['Recovery time', objectiveText(report.measured.rto)],
        [
          'Recovery point',
          report.measured.rpo === undefined ? 'Nothing was restored.' : objectiveText(report.measured.rpo),
        ],
        ['Groups', groupsText(report)],
        [
          'What is open',
          open.length === 0 ? 'Nothing.' : [{ bad: counted(open.length, 'item') }, `: ${some(open)}`],
        ],
        [
          'Deviations from the plan',
          deviations.length === 0 ? 'None.' : some(deviations.map(({ kind, what }) => `${kind}: ${what}`)),
        ],
        ['Anchor for the ticket', evidence.anchor === undefined ? 'None.' : { code: evidence.anchor }],
        [
          'To be filled in by people',
          `${counted(left.length, 'line')}, and the sign-off by ${signOff.length} people.`,
        ],
      ],
    },
  ];
}

export const NOT_SAID: Text = 'The plan does not say it.';
const MOST = 5;

function some(texts: readonly string[]): string {
  const more = texts.length - MOST;
  return `${texts.slice(0, MOST).join('; ')}${more > 0 ? `; ${more} more` : ''}.`;
}

function outcomeText({ status, proven, text }: PlanReport['outcome']): Text {
  if (status === 'closed')
    return [
      { strong: text },
      '. The result is ',
      proven === true ? { good: 'proven' } : { bad: 'not proven' },
      '.',
    ];
  if (status === 'abandoned') return [{ bad: 'Abandoned' }, `: ${text}.`];
  return [{ bad: 'This run is still open.' }, ` It is at: ${text}. The record ends with its last entry.`];
}

export type Objective = PlanReport['measured']['rto'];

function objectiveText(one: Objective): Text {
  const limit = one.limitSeconds === undefined ? '' : `, limit ${formatSeconds(one.limitSeconds)}`;
  return [seconds(one.measuredSeconds, 'not measured'), `${limit}: `, verdict(one), '.'];
}

export function verdict({ result, why }: Objective): Inline {
  const text = why === undefined ? result : `${result} (${why})`;
  if (result === 'met') return { good: text };
  return result === 'missed' || result === 'given up' ? { bad: text } : text;
}

function groupsText({ groups }: PlanReport): string {
  const main = groups.filter(({ phase }) => phase === 'groups');
  const done = main.filter(({ ended }) => ended === 'done').length;
  const lanes = main.flatMap((group) => group.lanes).filter(({ name }) => name !== '-');
  const whole = lanes.filter(({ state }) => state === 'done').length;
  return `${done} of ${counted(main.length, 'group')} done; ${whole} of ${counted(lanes.length, 'instance')} done.`;
}

const TONES = {
  met: 'good',
  missed: 'bad',
  'given up': 'bad',
  'not decided': 'plain',
  'does not apply': 'plain',
} as const;

function figuresOf({ outcome, measured, groups, deviations, open }: PlanReport): Figure[] {
  const objective = (label: string, one: Objective): Figure => ({
    label,
    value: seconds(one.measuredSeconds, 'not measured'),
    note: `limit ${seconds(one.limitSeconds, 'none set')}: ${one.result}${one.why === undefined ? '' : `: ${one.why}`}`,
    tone: TONES[one.result],
  });
  const lanes = groups
    .flatMap((group) => (group.phase === 'groups' ? group.lanes : []))
    .filter(({ name }) => name !== '-');
  const done = lanes.filter(({ state }) => state === 'done').length;
  return [
    {
      label: 'Result',
      value:
        outcome.status === 'closed' ? (outcome.proven === true ? 'proven' : 'not proven') : outcome.status,
      note: outcome.text,
      tone: outcome.proven === true ? 'good' : 'bad',
    },
    objective('Recovery time (RTO)', measured.rto),
    ...(measured.rpo === undefined ? [] : [objective('Recovery point (RPO), the worst', measured.rpo)]),
    {
      label: 'Instances',
      value: `${done} of ${lanes.length}`,
      note: done === lanes.length ? 'done' : 'done; the others are below',
      tone: done === lanes.length ? 'good' : 'bad',
    },
    {
      label: 'Deviations',
      value: String(deviations.length),
      note: deviations.length === 0 ? 'done as the plan says' : 'listed below, with reasons',
      tone: 'plain',
    },
    {
      label: 'Still open',
      value: String(open.length),
      note: open.length === 0 ? 'nothing' : 'listed below',
      tone: open.length === 0 ? 'good' : 'bad',
    },
  ];
}
