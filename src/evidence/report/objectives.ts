import { formatSeconds } from '../../format.ts';
import { plain, table } from '../markdown.ts';
import type { Measures } from '../measure/measure.ts';
import type { RecoveryPoint } from '../measure/recovery-point.ts';
import { SLICES } from '../measure/slices.ts';
import { time } from './layout.ts';

const MEANINGS: Readonly<Record<(typeof SLICES)[number], string>> = {
  decide: 'until the destructive call was armed',
  queue: 'the service had it and had not begun',
  execute: 'the service was at work',
  human: 'a question waited for its answer',
  rebind: 'until the last application ran on the restored data',
};

const STATUS = {
  over: 'until the recovery was over',
  running: 'until now; it still runs',
  'given-up': 'until the run ended; the recovery was not over',
} as const;

/** What the recovery took and lost, against what it was allowed to; how each was measured. */
export function objectives(measures: Measures): string {
  const { objectives: limits, time: taken, point, meetsRto, meetsRpo } = measures;
  const since = taken.since === 'incident' ? 'From the incident' : 'From the start of the run';
  const unmeasured = measures.restores ? 'not measured' : 'nothing was brought back';
  const lost = point === undefined ? unmeasured : formatSeconds(point.lostMs / 1000);
  return [
    table(
      ['Objective', 'Limit', 'Measured', 'Result'],
      [
        [
          'Recovery time (RTO)',
          limit(limits.rtoSeconds),
          formatSeconds(taken.totalMs / 1000),
          result(meetsRto),
        ],
        [
          'Recovery point (RPO)',
          limit(limits.rpoSeconds),
          lost,
          measures.restores ? result(meetsRpo) : 'does not apply',
        ],
      ],
    ),
    `${since}, ${time(taken.from)}, ${STATUS[taken.status]}, ${time(taken.until)}. In slices:`,
    table(
      ['Slice', 'Time', 'What it is'],
      SLICES.map((slice) => [slice, formatSeconds(taken.slicesMs[slice] / 1000), MEANINGS[slice]]),
    ),
    ...(taken.notes.length === 0 ? [] : [taken.notes.map((note) => `- ${plain(note)}`).join('\n')]),
    ...(measures.restores ? [howLost(point)] : []),
  ].join('\n\n');
}

/** The recovery point's definition, with its two ends. */
function howLost(point: RecoveryPoint | undefined): string {
  if (point === undefined)
    return 'The recovery point was not measured: neither the data nor the service told it.';
  const ends = `from ${time(point.recoveredTo)}, the newest data that is there again, to ${time(point.lostAt)}, ${point.lostBy}`;
  const by = {
    data: 'by the reconciliation command, so by the data itself',
    restored_from: 'by what the service says it restored',
    'chosen-time': 'by the point in time that was asked for',
  }[point.by];
  return `The recovery point is the time ${ends}; measured ${by}.`;
}

function limit(seconds: number | undefined): string {
  return seconds === undefined ? 'none set' : formatSeconds(seconds);
}

function result(isMet: boolean | undefined): string {
  return isMet === undefined ? 'not decided' : isMet ? '**met**' : '**missed**';
}
