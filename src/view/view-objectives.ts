import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { counted, formatSeconds, formatTime, readable } from '../base/format.ts';
import {
  type Measures,
  measure,
  type Result,
  resultOfPoint,
  resultOfTime,
} from '../report/measure/measure.ts';
import type { RecoveryPoint } from '../report/measure/recovery-point.ts';
import { SLICES, slicesOf } from '../report/measure/slices.ts';
import type { Entry } from '../store/journal.ts';
import { type ObjectiveView, SHARE_TO_WARN, type Tone } from './run-view.ts';

/** Empty for a run that recovers nothing. */
export function viewObjectives(
  runbook: Pick<Runbook, 'machine'>,
  entries: readonly Entry[],
  followUps: readonly FollowUp[],
  now: Date,
): ObjectiveView[] {
  const sliceOf = slicesOf(runbook);
  const measures = sliceOf === undefined ? undefined : measure(entries, { sliceOf, followUps, now });
  if (measures === undefined) return [];
  const time = recoveryTimeView(measures);
  return measures.restores ? [time, recoveryPointView(measures)] : [time];
}

function recoveryTimeView(measures: Measures): ObjectiveView {
  const { time, objectives, meetsRto } = measures;
  const seconds = time.totalMs / 1000;
  const limit = objectives.rtoSeconds;
  const slices = SLICES.map((name) => ({ name, seconds: time.slicesMs[name] / 1000 })).filter(
    ({ seconds }) => seconds > 0,
  );
  const { result, why } = resultOfTime(measures);
  const isShort = limit !== undefined && seconds > limit * SHARE_TO_WARN;
  return {
    name: 'RTO',
    limit,
    value: seconds,
    running: time.status === 'running',
    tone: toneOf(meetsRto, meetsRto === undefined && isShort ? 'warn' : 'plain'),
    ...verdictOf(result, limit, time.status === 'running'),
    slices,
    why: why && readable(why),
    detail: slices.map(({ name, seconds: taken }) => `${name} ${formatSeconds(taken)}`).join(', '),
  };
}

function recoveryPointView(measures: Measures): ObjectiveView {
  const { point, time, objectives, meetsRpo } = measures;
  const { result, why } = resultOfPoint(measures);
  const isRunning = point === undefined && time.status === 'running';
  return {
    name: 'RPO',
    limit: objectives.rpoSeconds,
    value: point === undefined ? undefined : point.lostMs / 1000,
    running: isRunning,
    tone: toneOf(meetsRpo, 'plain'),
    ...verdictOf(result, objectives.rpoSeconds, isRunning),
    why: why && readable(why),
    detail: point === undefined ? 'not measured yet' : `${howMeasured(point)}${rows(point)}`,
  };
}

/** From the newest recovered record to the moment up to which there was data. */
function howMeasured({ by, recoveredTo, lostAt, lostBy, lostMs, mostLostMs }: RecoveryPoint): string {
  const source = {
    data: 'by the data',
    restored_from: 'by what the service restored',
    'chosen-time': 'by the chosen time',
  }[by];
  const [recovered, lost] = [formatTime(recoveredTo), formatTime(lostAt)];
  const most = mostLostMs === undefined ? '' : `, at most ${formatSeconds(mostLostMs / 1000)}`;
  return lostMs === 0
    ? `${source}: recovered up to ${recovered} UTC, no earlier than ${lostBy} (${lost} UTC)${most}`
    : `${source}: ${recovered} to ${lost} UTC (${lostBy})${most}`;
}

function rows({ rowsBefore, rowsAfter }: RecoveryPoint): string {
  return rowsBefore === undefined || rowsAfter === undefined
    ? ''
    : `, ${counted(rowsBefore, 'row')} before, ${rowsAfter} after`;
}

/** As in the report. A running objective is decided only once its limit has passed. */
function verdictOf(
  verdict: Result['result'],
  limit: number | undefined,
  isRunning: boolean,
): Pick<ObjectiveView, 'verdict'> {
  if (limit === undefined || (isRunning && verdict === 'not decided')) return {};
  return { verdict };
}

function toneOf(isMet: boolean | undefined, otherwise: Tone): Tone {
  return isMet === undefined ? otherwise : isMet ? 'good' : 'bad';
}
