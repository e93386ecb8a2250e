import { counted, formatSeconds } from '../../base/format.ts';
import { SLICES } from '../measure/slices.ts';
import type { Measured, Report } from '../model/model.ts';
import type { Course } from '../model/model-rows.ts';
import {
  type Block,
  blanks,
  detail,
  listOf,
  paragraph,
  type Section,
  seconds,
  type Text,
  tableOf,
  time,
} from './document.ts';

const MEANINGS: Readonly<Record<(typeof SLICES)[number], string>> = {
  decide: 'until the destructive call could be sent, with the questions and approvals before it',
  queue: 'the service had the request and had not begun',
  execute: 'the service was at work',
  human: 'after that, a question waited for an answer',
  rebind: 'until the last application ran on the restored data',
};

const STATUS = {
  over: 'until the recovery was over',
  running: 'until now; the recovery is not over',
  'given-up': 'until the run ended; the recovery was not over',
} as const;

/** What the recovery took and lost, and how it went. */
export function measuredSections(report: Report): Section[] {
  const { measured, course } = report;
  return [
    ...(measured === undefined
      ? []
      : [{ title: 'Objectives', blocks: [...objectiveBlocks(measured), ...blanks(report, 'objectives')] }]),
    ...(course === undefined ? [] : [{ title: 'Course of the run', blocks: courseBlocks(course) }]),
    ...detail('Tasks and moments', course === undefined ? [] : momentBlocks(course)),
  ];
}

function objectiveBlocks(measured: Measured): Block[] {
  const { rto, rpo, restores, notes, slices } = measured;
  const since = measured.since === 'incident' ? 'From the incident' : 'From the start of the run';
  return [
    ...tableOf(
      'Objectives against what was measured',
      ['Objective', 'Limit', 'Measured', 'Result'],
      [
        objectiveRow('Recovery time (RTO)', rto, ''),
        objectiveRow('Recovery point (RPO)', rpo, restores ? 'not measured' : 'nothing was restored'),
      ],
    ),
    paragraph(`${since}, ${time(measured.from)}, ${until(measured)}, ${time(measured.until)}. In slices:`),
    ...tableOf(
      'The recovery time in slices',
      ['Slice', 'Time', 'What it is'],
      SLICES.map((slice) => [slice, formatSeconds(slices[slice]), MEANINGS[slice]]),
    ),
    ...listOf(notes),
    ...(restores ? [paragraph(howLost(measured))] : []),
    paragraph('The limits are those of the configuration when the run began. It sets no cryptoperiod.'),
  ];
}

function objectiveRow(name: string, one: Measured['rto'], unmeasured: string): Text[] {
  const { limitSeconds, measuredSeconds } = one;
  return [name, seconds(limitSeconds, 'none set'), seconds(measuredSeconds, unmeasured), result(one)];
}

/** The recovery point's definition, with its two ends. */
function howLost({ point, rpo }: Measured): string {
  if (point === undefined && rpo.why !== undefined) return `The recovery point was not measured: ${rpo.why}.`;
  if (point === undefined)
    return 'The recovery point was not measured: neither the data nor the service reported it.';
  const [recovered, lost] = [time(point.recoveredTo), `${time(point.lostAt)}, ${point.lostBy}`];
  const is =
    rpo.measuredSeconds === 0
      ? `zero: the newest restored data, of ${recovered}, is no older than ${lost}`
      : `the time from ${recovered}, the newest restored data, to ${lost}`;
  const by = {
    data: 'by the data itself, with the reconciliation command',
    restored_from: 'by what the service says it restored',
    'chosen-time': 'by the chosen point in time',
  }[point.by];
  const instead = point.because === undefined ? '' : ` It is not measured by the data: ${point.because}.`;
  return `The recovery point is ${is}; measured ${by}.${instead}`;
}

function result({ result: word, why }: Measured['rto']): Text {
  const because = why === undefined ? [] : [`: ${why}`];
  if (word === 'met') return [{ good: word }, ...because];
  return word === 'missed' || word === 'given up' ? [{ bad: word }, ...because] : [word, ...because];
}

/** Until when it was measured. A recovery that only a person claims is not called one. */
function until({ status, rto }: Measured): string {
  if (rto.why === undefined) return STATUS[status];
  return status === 'given-up'
    ? 'until the run gave up; the recovery was not over'
    : 'until all steps were done; nothing shows that it was a recovery';
}

function courseBlocks(course: Course): Block[] {
  const { steps, tasks, marks } = course;
  const caption =
    `From ${time(course.from)} to ${time(course.until)} UTC: ${counted(steps.length, 'step')}, ` +
    `${counted(tasks.length, 'task')} of the service, ${counted(marks.length, 'moment')}.`;
  return [
    { kind: 'picture', caption, course },
    ...tableOf(
      'Steps',
      ['Begun', 'Step', 'Took', 'Slice', 'Waited for'],
      steps.map(({ title, from, seconds: took, slice, waits }) => [
        time(from),
        title,
        formatSeconds(took),
        slice ?? '',
        waits ? 'a person' : '',
      ]),
    ),
  ];
}

function momentBlocks({ tasks, marks }: Course): Block[] {
  return [
    ...tableOf(
      'Tasks of the service, as it reported them',
      ['Task', 'Part', 'From', 'Until'],
      tasks.map(({ what, kind, from, until }) => [what, kind, time(from), time(until)]),
    ),
    ...tableOf(
      'Moments',
      ['No', 'Time', 'Kind', 'What'],
      marks.map(({ at, kind, text }, index) => [
        String(index + 1),
        time(at),
        kind === 'break-glass' || kind === 'trouble' ? { bad: kind } : kind,
        text,
      ]),
    ),
  ];
}
