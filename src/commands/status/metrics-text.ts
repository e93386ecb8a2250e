import { msOf } from '../../base/instant.ts';
import type { InstanceVerdict } from '../../plans/evaluation-schema.ts';
import type { InstanceStatus, Verdict } from '../../view/fleet/status-schema.ts';
import { countOf } from '../../view/fleet/workers-words.ts';
import type { FleetReport } from './status.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | undefined];

/** One metric. Omits samples without a value: something unknown has none. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly samples: (report: FleetReport) => readonly Sample[];
}

/**
 * The findings in the text format of Prometheus 0.0.4: gauges only, times in seconds since 1970 by this
 * machine's clock, sizes in bytes. Without timestamps, which the textfile collector refuses; the time is a
 * metric of its own, so that an alert can detect a file that is no longer updated.
 */
export function metricsText(report: FleetReport): string {
  return METRICS.map((metric) => textOf(metric, report)).join('');
}

const METRICS: readonly Metric[] = [
  {
    name: 'lifeboat_status_timestamp_seconds',
    help: 'When lifeboat status was run.',
    samples: ({ at }) => [[{}, at.getTime() / 1000]],
  },
  ...[
    each('recoverable', 'Whether it could be recovered now; 0 also where that is unknown.', ways),
    one('within_objectives', 'Whether what could be brought back keeps the RPO.', ({ objectives }) =>
      objectives === undefined ? undefined : Number(objectives.answer === 'yes'),
    ),
    one('in_service', 'Whether applications can work with it now; 0 also where that is unknown.', (status) =>
      Number(status.inService.answer === 'yes'),
    ),
    one('down', 'Whether it does not answer.', ({ down }) => Number(down !== undefined)),
    one('not_found', 'Whether its address knows no such instance.', ({ notFound }) =>
      Number(notFound !== undefined),
    ),
    each('verdict', 'The verdict of the evaluation: 1 for the one that holds.', verdicts),
    each('check', 'Whether a check is green; absent where it does not apply.', checks),
    each('recoverable_answer', 'The answer in words: 1 for the one that holds.', answers),
    each('part_known', 'Whether a part of the status was answered; 0 where it failed.', partsKnown),
    one('rto_seconds', 'Its recovery time objective.', ({ rto }) => rto),
    one('rpo_seconds', 'Its recovery point objective.', ({ rpo }) => rpo),
  ],
  time('newest_backup', 'When the newest done backup was triggered.', (one) => one.newestBackup?.ageSeconds),
  one('newest_backup_size_bytes', 'Its size, encrypted.', ({ newestBackup }) => newestBackup?.size),
  time(
    'proven_backup',
    'When the newest proven backup was triggered.',
    (one) => one.provenBackup?.ageSeconds,
  ),
  time('proof', 'When that backup was proven.', ({ provenBackup }) => provenBackup?.provenAgeSeconds),
  one('key_held', 'Whether each key that the newest backup may have is in the key store.', keyHeld),
  time('recovery_card', 'When the recovery card was made.', ({ card }) => card?.ageSeconds),
  time('pitr_newest_point', 'The newest point in time that can be restored to.', ({ window }) =>
    typeof window === 'object' ? window.ageSeconds : undefined,
  ),
  one('pitr_range_seconds', 'From the oldest point to the newest.', ({ window }) =>
    typeof window === 'object' ? (msOf(window.end) - msOf(window.start)) / 1000 : undefined,
  ),
  time('recovered', 'When a proven run last recovered it.', ({ recovered }) => recovered?.ageSeconds),
  each('follow_ups', 'Follow-ups that are open, and how many of them are overdue.', ({ followUps }) => [
    [{ state: 'open' }, followUps?.open],
    [{ state: 'overdue' }, followUps?.overdue],
  ]),
  one('calls_in_doubt', 'Calls whose outcome is not known.', ({ inDoubt }) => inDoubt),
  {
    name: 'lifeboat_plan_verdict',
    help: 'The verdict of the evaluation of a plan: 1 for the one that holds.',
    samples: ({ plans }) =>
      plans.flatMap(({ plan, verdict: of }) =>
        VERDICTS.filter((verdict) => verdict !== 'empty').map(
          (verdict): Sample => [{ plan, verdict }, Number(of === verdict)],
        ),
      ),
  },
  {
    name: 'lifeboat_workers',
    help: 'Workers of the team by state; absent where the queue could not be asked.',
    samples: ({ workers }) =>
      workers?.queue === undefined
        ? []
        : (['live', 'stopped', 'gone'] as const).map((state): Sample => [{ state }, countOf(workers, state)]),
  },
  {
    name: 'lifeboat_queue_ready',
    help: 'Wake-ups of runs that may be delivered now.',
    samples: ({ workers }) => [[{}, workers?.queue?.ready]],
  },
  {
    name: 'lifeboat_queue_oldest_seconds',
    help: 'How long the oldest of them has been waiting; 0 if none is.',
    samples: ({ workers }) => [[{}, workers?.queue && (workers.queue.oldestSeconds ?? 0)]],
  },
  drill('last', 'When the last drill ended, whatever came of it.', ({ last }) => last?.at),
  drill('proven', 'When the last drill ended that was proven.', ({ lastProven }) => lastProven?.at),
  drill('due', 'When the next drill is due by the config.', ({ dueAt }) => dueAt),
];

function drill(
  name: string,
  help: string,
  at: (drills: FleetReport['drills']) => string | undefined,
): Metric {
  const samples = ({ drills }: FleetReport): readonly Sample[] => {
    const time = at(drills);
    return [[{}, time === undefined ? undefined : msOf(time) / 1000]];
  };
  return { name: `lifeboat_drill_${name}_timestamp_seconds`, help, samples };
}

function each(name: string, help: string, samples: (status: InstanceStatus) => readonly Sample[]): Metric {
  return {
    name: `lifeboat_instance_${name}`,
    help,
    samples: ({ instances }) =>
      instances.flatMap((status) =>
        samples(status).map(([labels, value]): Sample => [{ instance: status.name, ...labels }, value]),
      ),
  };
}

function one(name: string, help: string, value: (status: InstanceStatus) => number | undefined): Metric {
  return each(name, help, (status) => [[{}, value(status)]]);
}

/** A moment, computed from its age. */
function time(name: string, help: string, age: (status: InstanceStatus) => number | undefined): Metric {
  const ages = one(`${name}_timestamp_seconds`, help, age);
  const samples: Metric['samples'] = (report) =>
    ages
      .samples(report)
      .map(([labels, seconds]) => [
        labels,
        seconds === undefined ? undefined : report.at.getTime() / 1000 - seconds,
      ]);
  return { ...ages, samples };
}

function verdictsOf({ inPlace, elsewhere }: InstanceStatus): readonly (readonly [string, Verdict])[] {
  return Object.entries({ in_place: inPlace, elsewhere });
}

/** A target without data of its own has no answer. */
function ways(status: InstanceStatus): readonly Sample[] {
  return verdictsOf(status).map(([way, { answer }]) => [
    { way },
    answer === 'empty' ? undefined : Number(answer === 'yes'),
  ]);
}

function answers(status: InstanceStatus): readonly Sample[] {
  return verdictsOf(status).flatMap(([way, verdict]) =>
    (['yes', 'no', 'unknown', 'empty'] as const).map(
      (answer): Sample => [{ way, answer }, Number(verdict.answer === answer)],
    ),
  );
}

function verdicts({ evaluation }: InstanceStatus): readonly Sample[] {
  return VERDICTS.map((verdict): Sample => [{ verdict }, Number(evaluation.verdict === verdict)]);
}

const VERDICTS: readonly InstanceVerdict[] = ['proven', 'ready', 'not-ready', 'unknown', 'empty'];

function checks({ evaluation }: InstanceStatus): readonly Sample[] {
  return evaluation.checks.map(
    ({ id, state }): Sample => [
      { check: id },
      state === 'not-applicable' ? undefined : Number(state === 'green'),
    ],
  );
}

function partsKnown({ parts }: InstanceStatus): readonly Sample[] {
  return Object.entries(parts).map(([part, { state }]) => [
    { part },
    state === 'known' || state === 'failed' ? Number(state === 'known') : undefined,
  ]);
}

function keyHeld({ key: { possible } }: InstanceStatus): number | undefined {
  if (possible.length === 0 || possible.some(({ isHeld }) => isHeld === undefined)) return undefined;
  return Number(possible.every(({ isHeld }) => isHeld));
}

function textOf({ name, help, samples }: Metric, report: FleetReport): string {
  const lines = samples(report).flatMap(([labels, value]) =>
    value === undefined ? [] : [`${name}${labelsText(labels)} ${number(value)}\n`],
  );
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

function labelsText(labels: Labels): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/gu, '\\\\').replace(/"/gu, '\\"').replace(/\n/gu, '\\n');
}

/** No clock here is finer than milliseconds. */
function number(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
