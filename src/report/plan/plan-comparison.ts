import { Comparison, type Pair, pairOf } from '../comparison.ts';
import type { PlanReport } from './plan-report.ts';

/** Compares two runs of plans, group by group, in the order in which they began. Pure. */
export function comparePlanReports(one: PlanReport, other: PlanReport, generatedAt: Date): Comparison {
  const [first, second] = [one, other].toSorted((a, b) => a.run.startedAt.localeCompare(b.run.startedAt)) as [
    PlanReport,
    PlanReport,
  ];
  const words = (label: string, of: (report: PlanReport) => string | undefined) => ({
    label,
    first: of(first) ?? 'not known',
    second: of(second) ?? 'not known',
  });
  const pair = (label: string, of: (report: PlanReport) => number | undefined) =>
    pairOf(label, of(first), of(second));
  return Comparison.parse({
    schema: 'lifeboat.comparison/1',
    generatedAt: generatedAt.toISOString(),
    parts: 'groups',
    runs: [sideOf(first), sideOf(second)],
    alarms: [first, second].flatMap(({ alarms, run }) =>
      alarms.map((alarm) => ({ ...alarm, title: `${alarm.title} (plan run ${run.id})` })),
    ),
    cautions: cautionsOf(first, second),
    words: [
      words('Run', ({ run }) => run.id),
      words('Plan', ({ run }) => run.plan),
      words('Text of the plan', ({ run }) => run.sha256.slice(0, 12)),
      words('Instances', ({ asked }) => String(asked.scope.length)),
      words('Kind', ({ run }) => run.kind),
      words('Operator', ({ run }) => run.operator),
      words('Started', ({ run }) => run.startedAt),
      words('Outcome', ({ outcome }) => outcome.text),
      words('Recovery time (RTO)', ({ measured }) => measured.rto.result),
      words('Recovery point (RPO)', ({ measured }) => measured.rpo?.result),
    ],
    times: [
      pair('whole run', ({ run }) => run.seconds),
      pair('recovery time (RTO)', ({ measured }) =>
        measured.status === 'over' ? measured.rto.measuredSeconds : undefined,
      ),
      pair('recovery point (RPO), the worst', ({ measured }) => measured.rpo?.measuredSeconds),
    ],
    steps: groupPairs(first, second),
  });
}

/** Groups that both have, in the order of the first; then those of only one. */
function groupPairs(first: PlanReport, second: PlanReport): Pair[] {
  const [a, b] = [first, second].map(({ groups }) => new Map(groups.map(({ id, seconds }) => [id, seconds])));
  const ids = [...new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])];
  return ids.map((id) => pairOf(id, a?.get(id), b?.get(id)));
}

function sideOf({ run, title, outcome, deviations, decisions }: PlanReport): Comparison['runs'][number] {
  return {
    id: run.id,
    title,
    proven: outcome.proven === true,
    startedAt: run.startedAt,
    deviations: deviations.map(({ kind, what, reason }) => ({ kind, what, reason })),
    decisions: decisions.map(({ what, reason }) => ({ what, reason })),
  };
}

const KIND_WORDS = { real: 'a real run', rehearsal: 'a rehearsal' } as const;

function cautionsOf(first: PlanReport, second: PlanReport): string[] {
  const [a, b] = [first.run, second.run];
  return [
    ...(a.id === b.id ? ['both are the same run'] : []),
    ...(a.plan === b.plan ? [] : [`they ran different plans (${a.plan} and ${b.plan})`]),
    ...(a.plan === b.plan && a.sha256 !== b.sha256 ? ['the text of the plan was changed in between'] : []),
    ...(first.asked.scope.length === second.asked.scope.length
      ? []
      : ['they recovered different numbers of instances']),
    ...(a.kind === b.kind ? [] : [`one is ${KIND_WORDS[a.kind]}, the other ${KIND_WORDS[b.kind]}`]),
    ...(first.measured.since === second.measured.since
      ? []
      : ['one recovery time counts from the incident, the other from the start of its run']),
    ...[first, second]
      .filter(({ outcome }) => outcome.proven !== true)
      .map(({ run, outcome }) =>
        outcome.status === 'closed'
          ? `run ${run.id} is not proven: its times say nothing about a recovery`
          : `run ${run.id} is ${outcome.status}: its figures end with its last entry`,
      ),
  ];
}
