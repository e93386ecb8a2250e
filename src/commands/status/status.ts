import { EXIT, errorCode, FILE_TROUBLE, LifeboatError } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { PackedMap } from '../../base/packed.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { inOrder } from '../../cli/in-order.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { isForPeople, printItems, printTable } from '../../cli/print-result.ts';
import { survey } from '../../compose/survey.ts';
import { homeFolder } from '../../config/find.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Column } from '../../plain/table.ts';
import { type EvaluatedInstance, type EvaluatedInstances, keptForPlans } from '../../plans/evaluate.ts';
import type { PlanEvaluation } from '../../plans/evaluation-schema.ts';
import {
  DRILL_WORDS,
  type DrillDue,
  drillDue,
  dueWords,
  futureDrillWords,
} from '../../report/drill/drill-report.ts';
import {
  absenceWords,
  backupCell,
  cardCell,
  checksAgainst,
  checksBeside,
  followUpCell,
  keyCell,
  NOT_FOUND_NEXT,
  newestCell,
  notesOf,
  openerWords,
  recoveredCell,
  seenWords,
  serviceCell,
  VERDICT_WORDS,
  waiverWords,
  windowCell,
} from '../../view/app/status-cells.ts';
import type { InstanceFacts } from '../../view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../view/fleet/status-schema.ts';
import type { WorkersStatus } from '../../view/fleet/workers-schema.ts';
import { workersLines } from '../../view/fleet/workers-words.ts';
import { briefly } from '../../view/follow-up-words.ts';
import { homeTrouble } from '../doctor/home-trouble.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { planNames } from '../plans/plan-files.ts';
import { planLine } from '../plans/plan-line.ts';
import { seeWorkers } from '../worker/workers-seen.ts';
import { metricsText } from './metrics-text.ts';

interface StatusFlags {
  readonly instance?: readonly string[];
  readonly prometheus?: string;
  readonly limit?: string;
}

/**
 * `lifeboat status`: reports for each instance whether it could be recovered now, and whether it is in
 * service. Sends only GETs. Exit 0 when each is proven, ready or empty, and in service; 1 otherwise: an
 * unknown counts against it, because nothing shows the contrary.
 */
export const status: Action<StatusFlags> = async (context, _, flags) => {
  const limitMs = flags.limit === undefined ? undefined : durationFrom(flags.limit, 'limit', ['1s', '1h']);
  const config = await loadConfig(context.env, context.configPath);
  const { instance: named = [] } = flags;
  for (const name of named) instanceNamed(config, name);
  const names = named.length > 0 ? [...new Set(named)] : Object.keys(config.instances);
  const trouble = await homeTrouble(homeFolder(context.env));
  if (trouble !== undefined) {
    context.stderr.write(`warning: ${trouble.text}\n`);
    for (const hint of trouble.hints) context.stderr.write(`hint: ${hint}\n`);
  }
  const plansToo = named.length === 0 && planNames(config).length > 0;
  const kept = new PackedMap<EvaluatedInstance>();
  const printed = isForPeople(context) ? inTable(names) : inItems(names, printItems(context, 'status'));
  const metered = new Map<string, InstanceStatus>();
  let isAllGood = true;
  const answered = (facts: InstanceFacts) => {
    const status = instanceStatus(facts, new Date());
    printed.add(status);
    isAllGood &&= isGood(status);
    // Of ten thousand instances nothing is kept that is not asked for.
    if (plansToo) kept.set(facts.name, keptForPlans(facts, status.evaluation));
    if (flags.prometheus !== undefined) metered.set(status.name, status);
  };
  // Asked beside the survey, so that it costs no time.
  const seeing = named.length > 0 ? undefined : seeWorkers(context);
  const targets = plansToo ? await plannedTargets(config) : new Set<string>();
  await survey(context, { config, names, limitMs, targets, answered });
  const at = new Date();
  const drills = drillDue(knownDrills(context.env), config.drills?.every, at);
  const plans = plansToo ? await plansOf(context, config, kept) : [];
  const workers = await seeing;
  await printed.end(context, { at, plans, drills, workers });
  const instances = names.flatMap((name) => metered.get(name) ?? []);
  if (flags.prometheus !== undefined)
    await writeMetrics(flags.prometheus, { at, instances, plans, drills, workers });
  return isAllGood ? EXIT.closed : EXIT.failed;
};

function isGood({ evaluation: { verdict }, inService }: InstanceStatus): boolean {
  if (verdict === 'empty') return true;
  return (verdict === 'proven' || verdict === 'ready') && inService.answer !== 'no';
}

/**
 * For the textfile collector of Prometheus' node exporter: whole or not at all, so it never reads half.
 * World-readable for the exporter's user, without secrets. Rejects with `output.file`.
 */
async function writeMetrics(path: string, report: FleetReport): Promise<void> {
  // Imported late: it starts Node threads, which every status would otherwise wait for.
  const { default: writeFileAtomic } = await import('write-file-atomic');
  try {
    await writeFileAtomic(path, metricsText(report), { mode: 0o644 });
  } catch (cause) {
    const why = FILE_TROUBLE[errorCode(cause) ?? ''] ?? errorCode(cause) ?? 'the system does not say why';
    throw new LifeboatError('output.file', `${show(path, 200)} cannot be written: ${why}`, {
      hints: ['the metrics that were there before stay', 'name another file with --prometheus FILE'],
      cause,
    });
  }
}

export interface FleetReport {
  readonly at: Date;
  readonly instances: readonly InstanceStatus[];
  readonly plans: readonly PlanEvaluation[];
  readonly drills: DrillDue;
  /** Missing where the store has no workers of its own, or instances were named. */
  readonly workers?: WorkersStatus | undefined;
}

/** The plan files, evaluated by what was asked of their instances. */
async function plansOf(
  context: CommandContext,
  config: LoadedConfig,
  evaluated: EvaluatedInstances,
): Promise<readonly PlanEvaluation[]> {
  const { evaluateAllPlans } = await import('../plans/evaluate-plans.ts');
  return evaluateAllPlans(context, config, evaluated);
}

async function plannedTargets(config: LoadedConfig): Promise<ReadonlySet<string>> {
  const { targetsOfPlans } = await import('../plans/evaluate-plans.ts');
  return targetsOfPlans(config);
}

/** Prints the statuses of instances in the order of the config, whichever of them is known first. */
interface Printer {
  add(status: InstanceStatus): void;
  end(context: CommandContext, rest: Omit<FleetReport, 'instances'>): Promise<void>;
}

/** As one object for programs; an instance is printed as soon as those before it were. */
function inItems(names: readonly string[], printer: ReturnType<typeof printItems<'status'>>): Printer {
  const put = inOrder(names, printer.item);
  return {
    add: (status) => put(status.name, status),
    end: (_, { at, plans, drills, workers }) => printer.end({ at: at.toISOString(), plans, drills, workers }),
  };
}

/** As a table with the reasons below it. */
function inTable(names: readonly string[]): Printer {
  const rows = new PackedMap<readonly string[]>();
  const below = new Map<string, string>();
  return {
    add: (status) => {
      rows.set(status.name, rowOf(status));
      const lines = linesBelow(status, new Date());
      if (lines.length > 0) below.set(status.name, lines.join('\n'));
    },
    end: async (context, { plans, drills, workers }) => {
      printTable(context, COLUMNS, rows.of(names));
      const lines = [...names.flatMap((name) => below.get(name) ?? []), ...plans.map(planLine)];
      for (const line of [...lines, drillLine(drills)]) context.stdout.write(`${line}\n`);
      if (workers !== undefined) printWorkers(context, workers);
    },
  };
}

/** Rows of workers that are shown; JSON has all of them. */
const MAX_WORKERS = 30;

function printWorkers(context: CommandContext, workers: WorkersStatus): void {
  for (const line of workersLines(workers)) context.stdout.write(`${line}\n`);
  if (workers.items.length === 0) return;
  const columns = [
    { title: 'worker', gives: true },
    { title: 'process' },
    { title: 'label' },
    { title: 'since' },
    { title: 'state' },
    { title: 'holds' },
  ];
  const rows = workers.items
    .slice(0, MAX_WORKERS)
    .map(({ host, pid, label, since, state, holds }) => [
      host,
      String(pid),
      label === '' ? '-' : label,
      `${formatTime(since)} UTC`,
      state,
      holds === undefined ? 'not known' : counted(holds, 'run'),
    ]);
  printTable(context, columns, rows);
  const more = workers.items.length - rows.length;
  if (more > 0) context.stdout.write(`and ${counted(more, 'older worker')}: --json has all\n`);
}

const COLUMNS: readonly Column[] = [
  { title: 'instance', gives: true },
  { title: 'verdict' },
  { title: 'in service' },
  { title: 'newest backup' },
  { title: 'proven backup' },
  { title: 'key' },
  { title: 'card', drops: true },
  { title: 'point in time', drops: true },
  { title: 'recovered', drops: true },
  { title: 'follow-ups', drops: true },
];

function rowOf(status: InstanceStatus): string[] {
  return [
    status.name,
    VERDICT_WORDS[status.evaluation.verdict],
    serviceCell(status),
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

function linesBelow(status: InstanceStatus, now: Date): string[] {
  const { name, evaluation, elsewhere, inService } = status;
  const [seen, absent, opener] = [seenWords(status), absenceWords(status, now), openerWords(status)];
  const isGood = evaluation.verdict === 'proven' || evaluation.verdict === 'ready';
  return [
    ...(absent === undefined ? [] : [`${name}: ${absent}`]),
    ...(status.notFound === undefined ? [] : [`${name}: ${NOT_FOUND_NEXT}`]),
    ...checksAgainst(status).map(
      ({ state, reason }) =>
        `${name}: ${VERDICT_WORDS[state === 'red' ? 'not-ready' : 'unknown']}: ${reason}`,
    ),
    ...checksBeside(status).map((check) => `${name}: ${check.id}: ${check.reason}; ${waiverWords(check)}`),
    ...(absent === undefined
      ? inService.reasons.map(({ text }) => `${name}: in service: ${text}`)
      : elsewhere.answer === 'yes'
        ? [`${name}: it could be recovered elsewhere`]
        : elsewhere.reasons.map(({ text }) => `${name}: elsewhere: ${text}`)),
    // The backup that a recovery would take deserves a line unless it is simply the newest.
    ...(opener === undefined || isGood ? [] : [`${name}: would take: ${opener}`]),
    ...(seen === undefined ? [] : [`${name}: newest backup: ${seen}`]),
    ...notesOf(status).map((note) => `${name}: note: ${note}`),
  ];
}
