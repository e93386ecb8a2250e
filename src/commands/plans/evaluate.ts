import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { PackedMap } from '../../base/packed.ts';
import { planSubject } from '../../base/plan-subject.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { inOrder } from '../../cli/in-order.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { isForPeople, printItems, printTable, type ResultOf } from '../../cli/print-result.ts';
import { rememberEvaluated } from '../../compose/last-evaluated.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { survey } from '../../compose/survey.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Column } from '../../plain/table.ts';
import {
  type EvaluatedInstance,
  type EvaluatedInstances,
  evaluate,
  keptForPlans,
} from '../../plans/evaluate.ts';
import type { Check, PlanCheck } from '../../plans/evaluation-schema.ts';
import { isDrillMissed } from '../../plans/missed.ts';
import { type DrillDue, drillDue, dueWords } from '../../report/drill/drill-report.ts';
import type { NewEntry } from '../../store/journal.ts';
import { readEvaluations } from '../../store/projections/evaluations.ts';
import { VERDICT_WORDS, waiverWords } from '../../view/app/status-cells.ts';
import { type InstanceFacts, knownOf } from '../../view/fleet/fleet-facts.ts';
import { briefly } from '../../view/follow-up-words.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { askedBy, evaluatePlans, type FoundPlan, findPlan, targetsOf } from './evaluate-plans.ts';
import { onRecord } from './evaluation-on-record.ts';
import { planNames } from './plan-files.ts';
import { planLine, verdictSince } from './plan-line.ts';
import { recordEvaluations } from './record-evaluations.ts';

interface EvaluateFlags {
  readonly instance?: string;
  readonly limit?: string;
}

type Row = ResultOf<'evaluations'>['items'][number];

type PlanRow = ResultOf<'evaluations'>['plans'][number];

/**
 * `lifeboat plans evaluate [PLAN]`: each instance and plan of the config, one plan with its instances, or one
 * instance with every check. Sends only GETs. Writes an entry for each whose verdict or findings changed, or
 * whose newest is a week old. Exit 0 if all, or the one plan, are proven, ready or empty; 1 if one is not
 * ready; 3 if one is unknown and none is not ready.
 */
export const plansEvaluate: Action<EvaluateFlags> = async (context, [word], flags) => {
  const limitMs = flags.limit === undefined ? undefined : durationFrom(flags.limit, 'limit', ['1s', '1h']);
  const config = await loadConfig(context.env, context.configPath);
  const { names, plans } = await wantedOf(config, word, flags.instance);
  const begun = new Date().toISOString();
  const kept = new PackedMap<EvaluatedInstance>();
  const verdicts = new Set<Row['verdict']>();
  const printed = isForPeople(context)
    ? inWords(names, { word, instance: flags.instance })
    : asItems(names, printItems(context, 'evaluations'));
  await using recorder = recordEvaluations(context, config);
  await survey(context, {
    ...{ config, names, limitMs },
    targets: new Set(plans.flatMap(targetsOf)),
    // This evaluation is the last one of each.
    last: Object.fromEntries(names.map((name) => [name, begun])),
    // Of ten thousand instances nothing is kept that is not asked for.
    answered: async (facts) => {
      const { row, entry } = evaluated(facts, config, new Date());
      if (plans.length > 0) kept.set(facts.name, keptForPlans(facts, row));
      if (word === undefined) verdicts.add(row.verdict);
      printed.add(row);
      if (entry !== undefined) await recorder.add(entry);
    },
  });
  const at = new Date();
  const ofPlans = await evaluatedPlans(context, config, plans, kept);
  const rows = ofPlans.map(({ row }) => row);
  for (const { verdict } of rows) verdicts.add(verdict);
  const drills = drillDue(knownDrills(context.env), config.drills?.every, at);
  await printed.end(context, { at, plans: rows, drills });
  for (const { entry } of ofPlans) if (entry !== undefined) await recorder.add(entry);
  await recorder.end();
  await rememberEvaluated(context.env, [...names, ...rows.map(({ plan }) => planSubject(plan))], at);
  if (verdicts.has('not-ready')) return EXIT.failed;
  return verdicts.has('unknown') ? EXIT.waiting : EXIT.closed;
};

/** Prints the evaluations of instances in the order of the config, whichever of them is known first. */
interface Printer {
  add(row: Row): void;
  end(context: CommandContext, rest: Rest): Promise<void>;
}

interface Rest {
  readonly at: Date;
  readonly plans: readonly PlanRow[];
  readonly drills: DrillDue;
}

function asItems(names: readonly string[], printer: ReturnType<typeof printItems<'evaluations'>>): Printer {
  const put = inOrder(names, printer.item);
  return {
    add: (row) => put(row.instance, row),
    end: (_, { at, ...rest }) => printer.end({ at: at.toISOString(), ...rest }),
  };
}

/** As a table; one instance, or one plan, with every check. */
function inWords(
  names: readonly string[],
  asked: { readonly word: string | undefined; readonly instance: string | undefined },
): Printer {
  const cells = new PackedMap<readonly string[]>();
  let one: Row | undefined;
  return {
    add: (row) => {
      if (asked.instance === undefined) cells.set(row.instance, cellsOf(row));
      else one = row;
    },
    end: async (context, { at, plans, drills }) => {
      if (asked.word !== undefined) for (const row of plans) printPlan(context, row);
      if (one !== undefined) printOne(context, one);
      else if (cells.size > 0) printTable(context, COLUMNS, cells.of(names));
      if (asked.word === undefined) for (const row of plans) context.stdout.write(`${planLine(row)}\n`);
      if (isDrillMissed(drills, at)) context.stdout.write(`drills: finding: next due: ${dueWords(drills)}\n`);
    },
  };
}

/** What is evaluated: one instance, a plan with its instances and targets, or everything. */
async function wantedOf(
  config: LoadedConfig,
  word: string | undefined,
  instance: string | undefined,
): Promise<{ readonly names: readonly string[]; readonly plans: readonly FoundPlan[] }> {
  if (word !== undefined && instance !== undefined)
    throw new LifeboatError('usage.plan', 'name a plan or an instance, not both', {
      hints: ['nothing was evaluated'],
      exitCode: EXIT.usage,
    });
  if (instance !== undefined) {
    instanceNamed(config, instance);
    return { names: [instance], plans: [] };
  }
  const plans = await Promise.all(
    (word === undefined ? planNames(config) : [word]).map((one) => findPlan(config, one)),
  );
  return { names: word === undefined ? Object.keys(config.instances) : plans.flatMap(askedBy), plans };
}

/** Evaluates the plans by what was asked of their instances, with an entry for each that changed. */
async function evaluatedPlans(
  context: CommandContext,
  config: LoadedConfig,
  plans: readonly FoundPlan[],
  kept: EvaluatedInstances,
): Promise<readonly { readonly row: PlanRow; readonly entry: NewEntry | undefined }[]> {
  if (plans.length === 0) return [];
  const journal = await openJournalIfAny(context);
  try {
    const subjects = plans.map(({ name }) => planSubject(name));
    const known = journal === undefined ? undefined : await readEvaluations(journal, subjects);
    const now = new Date();
    return (await evaluatePlans(config, journal, plans, kept)).map((evaluation) => {
      const subject = planSubject(evaluation.plan);
      const before = known?.get(subject);
      const { findings, changed, entry } = onRecord({
        ...{ subject, evaluation, before, owner: config.operator.name, now },
        facts: { overview: { state: 'missing' } },
      });
      const since = before?.verdict === evaluation.verdict ? { since: before.since } : {};
      return { row: { ...evaluation, ...since, findings, changed }, entry };
    });
  } finally {
    await journal?.close();
  }
}

function evaluated(facts: InstanceFacts, { operator }: Pick<LoadedConfig, 'operator'>, now: Date) {
  const { name } = facts;
  const before = knownOf(facts.record)?.evaluated;
  const evaluation = evaluate(facts, now);
  const { findings, changed, entry } = onRecord({
    ...{ subject: name, evaluation, facts, before, owner: operator.name, now },
  });
  const row: Row = { instance: name, ...evaluation, findings: [...findings], changed };
  return { row, entry };
}

const COLUMNS: readonly Column[] = [
  { title: 'instance', gives: true },
  { title: 'verdict' },
  { title: 'oldest check', drops: true },
  { title: 'age' },
  { title: 'period' },
  { title: 'reason' },
];

function cellsOf({ instance, verdict, reason, checks }: Row): readonly string[] {
  const oldest = oldestOf(checks);
  return [
    instance,
    VERDICT_WORDS[verdict],
    oldest?.id ?? '-',
    spanOf(oldest?.ageSeconds),
    spanOf(oldest?.periodSeconds),
    reason,
  ];
}

/** Of the checks that were asked, the one that has used most of its period. */
function oldestOf(checks: readonly Check[]): Check | undefined {
  const share = ({ ageSeconds = 0, periodSeconds = 1 }: Check) => ageSeconds / periodSeconds;
  const [oldest] = checks
    .filter(({ ageSeconds, periodSeconds }) => ageSeconds !== undefined && periodSeconds !== undefined)
    .toSorted((one, other) => share(other) - share(one));
  return oldest;
}

function printOne(
  context: CommandContext,
  { instance, verdict, since, reason, checks, findings }: Row,
): void {
  context.stdout.write(`${instance}: ${verdictSince({ verdict, since })}: ${reason}\n`);
  printChecks(context, checks);
  printFindings(context, findings);
}

function printChecks(context: CommandContext, checks: readonly (Check | PlanCheck)[]): void {
  const columns = [
    { title: 'check', gives: true },
    { title: 'state' },
    { title: 'age' },
    { title: 'period' },
    { title: 'reason' },
  ];
  const rows = checks.map((check) => [
    check.id,
    STATES[check.state],
    spanOf(check.ageSeconds),
    spanOf(check.periodSeconds),
    'waiver' in check && check.waiver !== undefined ? `${check.reason}; ${waiverWords(check)}` : check.reason,
  ]);
  printTable(context, columns, rows);
}

function printPlan(context: CommandContext, row: PlanRow): void {
  context.stdout.write(`${planLine(row)}\n`);
  printChecks(context, row.checks);
  printFindings(context, row.findings);
  context.stdout.write('\n');
}

function printFindings(context: CommandContext, findings: Row['findings']): void {
  for (const { check, owner, firstSeen, due } of findings) {
    const who = owner === undefined ? 'nobody is named for it' : `owner ${show(owner, 80)}`;
    context.stdout.write(
      `finding: ${check}: ${who}, first seen ${formatTime(firstSeen)} UTC, due ${formatTime(due)} UTC\n`,
    );
  }
}

const STATES: Readonly<Record<Check['state'], string>> = {
  green: 'green',
  red: 'RED',
  unknown: 'UNKNOWN',
  'not-applicable': '-',
};

function spanOf(seconds: number | undefined): string {
  return seconds === undefined ? '-' : briefly(seconds);
}
