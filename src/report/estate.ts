import * as z from 'zod';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { isOverdue } from '../../machines/parts/unfinished.ts';
import { counted, formatSeconds } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import type { Report } from './model/model.ts';
import type { PlanReport } from './plan/plan-report.ts';
import {
  type Block,
  type Document,
  type Figure,
  type Inline,
  paragraph,
  type Section,
  type Text,
  tableOr,
  time,
} from './render/document.ts';

const seconds = z.number();
export const Objective = z.object({
  measuredSeconds: seconds.optional(),
  limitSeconds: seconds.optional(),
  result: z.string(),
});

const EstateRun = z.object({
  run: z.string(),
  runbook: z.string(),
  target: z.string().optional(),
  mode: z.string(),
  by: z.string().optional(),
  startedAt: z.string(),
  result: z.enum(['proven', 'not proven', 'open', 'abandoned']),
  /** Only for a run that recovers. */
  rto: Objective.optional(),
  rpo: Objective.optional(),
  deviations: z.int(),
});

const EstateInstance = z.object({
  name: z.string(),
  /** Whether the config names it; the journal may know others. */
  isConfigured: z.boolean(),
  /** The backup that was last opened and read to its end, at any time. */
  proven: z.object({ backup: z.number(), at: z.string(), key: z.string() }).optional(),
  key: z.object({ fingerprint: z.string(), since: z.string().optional() }).optional(),
  /** When the recovery card was made; without one, a lost instance cannot be recovered elsewhere. */
  cardAt: z.string().optional(),
  /** Keys that were destroyed although something needed them: some backups may be unreadable. */
  destroyedByForce: z.array(z.object({ key: z.string(), at: z.string(), because: z.string() })),
  followUps: z.object({ open: z.int(), overdue: z.int() }),
  /** The runs of the period, oldest first. */
  runs: z.array(EstateRun),
});

const EstatePlan = z.object({
  run: z.string(),
  plan: z.string(),
  mode: z.string(),
  by: z.string(),
  startedAt: z.string(),
  seconds: seconds.optional(),
  result: EstateRun.shape.result,
  instances: z.int(),
  done: z.int().describe('instances that passed every step'),
  rto: Objective,
  /** Missing where nothing was restored. */
  rpo: Objective.optional(),
  deviations: z.int(),
});
type EstatePlan = z.infer<typeof EstatePlan>;

/** All instances over a period, from the journal alone. Times RFC 3339, durations in seconds. */
export const Estate = z.object({
  schema: z.literal('lifeboat.estate/1'),
  generatedAt: z.string(),
  since: z.string(),
  instances: z.array(EstateInstance),
  /** The runs of plans in the period, oldest first. */
  plans: z.array(EstatePlan).default([]),
});
export type Estate = z.infer<typeof Estate>;
export type EstateInstance = Estate['instances'][number];
export type EstateRun = EstateInstance['runs'][number];

export interface EstateRecord {
  readonly name: string;
  readonly isConfigured: boolean;
  readonly ledger: Pick<Ledger, 'epochs' | 'card' | 'proven' | 'custody'>;
  readonly followUps: readonly FollowUp[];
}

/** What the estate shows of a run: of many runs no more is kept. */
export type EstateReport = Pick<Report, 'run' | 'outcome' | 'measured' | 'deviations'>;

export function estateReport({ run, outcome, measured, deviations }: Report): EstateReport {
  return { run, outcome, measured, deviations };
}

/** The instances in the given order, each with its runs since a moment. Pure. */
export function estateOf(
  records: readonly EstateRecord[],
  reports: readonly EstateReport[],
  {
    since,
    now,
    plans = [],
  }: { readonly since: Date; readonly now: Date; readonly plans?: readonly PlanReport[] },
): Estate {
  const begun = reports
    .filter(({ run }) => msOf(run.startedAt) >= since.getTime())
    .toSorted((one, other) => msOf(one.run.startedAt) - msOf(other.run.startedAt));
  const runs = Map.groupBy(
    begun.flatMap(({ run, ...report }) =>
      [...new Set([run.instance, run.target])].map((name) => ({ name, report: { run, ...report } })),
    ),
    ({ name }) => name,
  );
  return {
    schema: 'lifeboat.estate/1',
    generatedAt: now.toISOString(),
    since: since.toISOString(),
    plans: plans.toSorted((a, b) => a.run.startedAt.localeCompare(b.run.startedAt)).map(planOf),
    instances: records.map(({ name, isConfigured, ledger, followUps }) => {
      const [proven] = ledger.proven;
      const inForce = ledger.epochs.findLast(
        ({ endedAt, state }) => endedAt === undefined && (state === 'set' || state === 'proven'),
      );
      const open = followUps.filter(({ closed }) => closed === undefined);
      return {
        name,
        isConfigured,
        ...(proven && {
          proven: {
            backup: proven.id,
            at: proven.provenAt,
            key: proven.fingerprint,
          },
        }),
        ...(inForce && {
          key: {
            fingerprint: inForce.fingerprint,
            ...(inForce.setAt === undefined ? {} : { since: inForce.setAt }),
          },
        }),
        ...(ledger.card && { cardAt: ledger.card.preparedAt }),
        destroyedByForce: Object.entries(ledger.custody?.keys ?? {}).flatMap(([key, { destroyed }]) =>
          destroyed?.because === undefined ? [] : [{ key, at: destroyed.at, because: destroyed.because }],
        ),
        followUps: { open: open.length, overdue: open.filter((one) => isOverdue(one, now.getTime())).length },
        runs: (runs.get(name) ?? []).map(({ report }) => runOf(report)),
      };
    }),
  };
}

export function objective({ measuredSeconds, limitSeconds, result }: NonNullable<Report['measured']>['rto']) {
  return {
    ...(measuredSeconds === undefined ? {} : { measuredSeconds }),
    ...(limitSeconds === undefined ? {} : { limitSeconds }),
    result,
  };
}

function planOf({ run, outcome, measured, groups, deviations }: PlanReport): EstatePlan {
  const lanes = groups.flatMap((group) => group.lanes).filter(({ name }) => name !== '-');
  return {
    run: run.id,
    plan: run.plan,
    mode: run.kind === 'real' ? 'LIVE' : 'REHEARSAL',
    by: run.operator,
    startedAt: run.startedAt,
    ...(run.seconds === undefined ? {} : { seconds: run.seconds }),
    result: resultOf(outcome),
    instances: lanes.length,
    done: lanes.filter(({ state }) => state === 'done').length,
    rto: objective(measured.rto),
    ...(measured.rpo && { rpo: objective(measured.rpo) }),
    deviations: deviations.length,
  };
}

function runOf({ run, outcome, measured, deviations }: EstateReport): EstateRun {
  return {
    run: run.id,
    runbook: run.runbook ?? 'unknown',
    ...(run.target === undefined ? {} : { target: run.target }),
    mode: run.mode ?? 'unknown',
    ...(run.operator === undefined ? {} : { by: run.operator }),
    startedAt: run.startedAt ?? 'unknown',
    result: resultOf(outcome),
    ...(measured && { rto: objective(measured.rto), rpo: objective(measured.rpo) }),
    deviations: deviations.length,
  };
}

function resultOf({ status, proven }: Pick<Report['outcome'], 'status' | 'proven'>): EstateRun['result'] {
  if (status !== 'closed') return status;
  return proven === true ? 'proven' : 'not proven';
}

export function estatePages(estate: Estate): Document {
  const { instances, plans, since, generatedAt, schema } = estate;
  const period = `${time(since)} to ${time(generatedAt)}`;
  return {
    title: `All instances, ${period}`,
    mark: counted(instances.length, 'instance'),
    lead: [
      ...forced(instances),
      { kind: 'figures', figures: figures(instances) },
      paragraph(
        'From the journal alone: what the service shows now, `lifeboat status` says. ' +
          'Proven is what was opened with its key and read to its last byte.',
      ),
    ],
    sections: [instanceTable(instances), ...planTable(plans), runTable(instances)],
    foot: `Written ${time(generatedAt)} UTC from the journal (${schema}). All times are UTC.`,
  };
}

/** At the top: it concerns every run and backup of these instances. */
function forced(instances: readonly EstateInstance[]): Block[] {
  const rows = instances.flatMap(({ name, destroyedByForce }) =>
    destroyedByForce.map(({ key, at, because }): Text[] => [{ bad: name }, { code: key }, time(at), because]),
  );
  if (rows.length === 0) return [];
  return [
    paragraph('Keys were DESTROYED BY FORCE: backups may exist that nobody can open.'),
    {
      kind: 'table',
      caption: 'Keys destroyed by force',
      head: ['Instance', 'Key', 'Destroyed', 'Because'],
      rows,
    },
  ];
}

function figures(instances: readonly EstateInstance[]): Figure[] {
  const runs = uniqueRuns(instances);
  const proven = instances.filter((one) => one.proven !== undefined).length;
  const overdue = instances.reduce((sum, { followUps }) => sum + followUps.overdue, 0);
  const open = instances.reduce((sum, { followUps }) => sum + followUps.open, 0);
  const missed = runs.filter(({ rto, rpo }) => rto?.result === 'missed' || rpo?.result === 'missed').length;
  const failed = runs.filter(({ result }) => result !== 'proven' && result !== 'open').length;
  return [
    {
      label: 'With a proven backup',
      value: `${proven} of ${instances.length}`,
      note: 'whenever it was proven: its date is below',
      tone: proven === instances.length ? 'good' : 'bad',
    },
    {
      label: 'Runs in the period',
      value: String(runs.length),
      note: failed === 0 ? 'none ended without proof' : `${failed} ended without proof`,
      tone: failed === 0 ? 'plain' : 'bad',
    },
    {
      label: 'Objectives missed',
      value: String(missed),
      note: 'runs that took or lost more than was allowed',
      tone: missed === 0 ? 'plain' : 'bad',
    },
    {
      label: 'Follow-ups open',
      value: String(open),
      note: overdue === 0 ? 'none overdue' : `${overdue} overdue`,
      tone: overdue === 0 ? 'plain' : 'bad',
    },
  ];
}

function instanceTable(instances: readonly EstateInstance[]): Section {
  const head = ['Instance', 'Proven backup', 'Key since', 'Recovery card', 'Runs', 'Last run', 'Follow-ups'];
  const rows = instances.map((one): Text[] => {
    const last = one.runs.at(-1);
    return [
      one.isConfigured ? one.name : `${one.name} (not in the config)`,
      one.proven === undefined ? { bad: 'none' } : `${one.proven.backup}, ${time(one.proven.at)}`,
      one.key === undefined ? 'unknown' : [{ code: one.key.fingerprint }, ` ${time(one.key.since)}`],
      one.cardAt === undefined ? 'none' : time(one.cardAt),
      String(one.runs.length),
      last === undefined ? { bad: 'none in the period' } : [`${last.runbook}: `, ...resultText(last)],
      followUpText(one),
    ];
  });
  return { title: 'Instances', blocks: [tableOr('There are none.', 'Each instance, on record', head, rows)] };
}

function runTable(instances: readonly EstateInstance[]): Section {
  const head = ['Started', 'Runbook', 'On', 'Mode', 'By', 'Result', 'RTO', 'RPO', 'Run'];
  const rows = instances
    .flatMap(({ name, runs }) => runs.map((run) => ({ name, run })))
    .filter(({ name, run }) => run.target !== name)
    .toSorted((one, other) => one.run.startedAt.localeCompare(other.run.startedAt))
    .map(({ name, run }): Text[] => [
      time(run.startedAt),
      run.runbook,
      run.target === undefined ? name : `${name} -> ${run.target}`,
      run.mode,
      run.by ?? 'unknown',
      resultText(run),
      objectiveText(run.rto),
      objectiveText(run.rpo),
      { code: run.run },
    ]);
  return { title: 'Runs', blocks: [tableOr('None in the period.', 'Every run of the period', head, rows)] };
}

function planTable(plans: readonly EstatePlan[]): Section[] {
  const head = ['Started', 'Plan', 'Mode', 'By', 'Result', 'Took', 'Instances', 'RTO', 'RPO', 'Run'];
  const rows = plans.map((one): Text[] => [
    time(one.startedAt),
    one.plan,
    one.mode,
    one.by,
    resultText(one),
    one.seconds === undefined ? '-' : formatSeconds(one.seconds),
    `${one.done} of ${one.instances}`,
    objectiveText(one.rto),
    objectiveText(one.rpo),
    { code: one.run },
  ]);
  return rows.length === 0
    ? []
    : [{ title: 'Plans', blocks: [tableOr('', 'Every run of a plan in the period', head, rows)] }];
}

/** A run into another instance is listed under both. */
function uniqueRuns(instances: readonly EstateInstance[]): readonly EstateRun[] {
  return [...new Map(instances.flatMap(({ runs }) => runs.map((run) => [run.run, run]))).values()];
}

function resultText({ result, deviations }: Pick<EstateRun, 'result' | 'deviations'>): readonly Inline[] {
  const more = deviations === 0 ? '' : `, ${counted(deviations, 'deviation')}`;
  return [result === 'proven' ? { good: result } : { bad: result }, more];
}

/** `41 s of 30 min: missed`, or a dash where nothing was measured. */
export function objectiveText(one: EstateRun['rto']): Text {
  if (one?.measuredSeconds === undefined) return '-';
  const figure = formatSeconds(one.measuredSeconds);
  const limit = one.limitSeconds === undefined ? '' : ` of ${formatSeconds(one.limitSeconds)}`;
  return one.result === 'missed' ? { bad: `${figure}${limit}: missed` } : `${figure}${limit}`;
}

function followUpText({ followUps: { open, overdue } }: EstateInstance): Text {
  if (open === 0) return 'none';
  return overdue === 0 ? `${open} open` : { bad: `${open} open, ${overdue} overdue` };
}
