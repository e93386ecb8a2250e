import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { rememberEvaluated } from '../../compose/last-evaluated.ts';
import { survey } from '../../compose/survey.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { evaluate } from '../../plans/evaluate.ts';
import type { Check } from '../../plans/evaluation-schema.ts';
import { findingsOf, toRecord } from '../../plans/findings.ts';
import { isDrillMissed } from '../../plans/missed.ts';
import { drillDue, dueWords } from '../../report/drill/drill-report.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { NewEntry } from '../../store/journal.ts';
import { evaluationEntry } from '../../store/projections/evaluations.ts';
import { VERDICT_WORDS, waiverWords } from '../../view/app/status-cells.ts';
import { type InstanceFacts, knownOf } from '../../view/fleet/fleet-facts.ts';
import { briefly } from '../../view/follow-up-words.ts';
import { knownDrills } from '../drill/drill-records.ts';

interface EvaluateFlags {
  readonly instance?: string;
  readonly limit?: string;
}

type Row = ResultOf<'evaluations'>['items'][number];

/**
 * `lifeboat plans evaluate`: evaluates each instance of the config, or one with every check. Sends only GETs.
 * Writes an entry into the ledger of each instance whose verdict or findings changed. Exit 0 when each is
 * proven, ready or empty; 1 when one is not ready; 3 when one is unknown and none is not ready.
 */
export const plansEvaluate: Action<EvaluateFlags> = async (context, _, flags) => {
  const limitMs = flags.limit === undefined ? undefined : durationFrom(flags.limit, 'limit', ['1s', '1h']);
  const config = await loadConfig(context.env, context.configPath);
  if (flags.instance !== undefined) instanceNamed(config, flags.instance);
  const names = flags.instance === undefined ? Object.keys(config.instances) : [flags.instance];
  const begun = new Date().toISOString();
  const found = new Map<string, { readonly row: Row; readonly entry: NewEntry | undefined }>();
  await survey(context, {
    ...{ config, names, limitMs },
    // This evaluation is the last one of each.
    last: Object.fromEntries(names.map((name) => [name, begun])),
    answered: (facts) => found.set(facts.name, evaluated(facts, config, new Date())),
  });
  const all = names.flatMap((name) => found.get(name) ?? []);
  const at = new Date();
  const items = all.map(({ row }) => row);
  const drills = drillDue(knownDrills(context.env), config.drills?.every, at);
  await printResult(context, 'evaluations', { at: at.toISOString(), items, drills }, () => {
    if (flags.instance === undefined) printAll(context, items);
    else for (const row of items) printOne(context, row);
    if (isDrillMissed(drills, at)) context.stdout.write(`drills: finding: next due: ${dueWords(drills)}\n`);
  });
  await record(
    context,
    config,
    all.flatMap(({ entry }) => entry ?? []),
  );
  await rememberEvaluated(context.env, names, at);
  const has = (verdict: Row['verdict']) => items.some((row) => row.verdict === verdict);
  return has('not-ready') ? EXIT.failed : has('unknown') ? EXIT.waiting : EXIT.closed;
};

function evaluated(facts: InstanceFacts, { operator }: Pick<LoadedConfig, 'operator'>, now: Date) {
  const { name } = facts;
  const before = knownOf(facts.record)?.evaluated;
  const evaluation = evaluate(facts, now);
  const findings = findingsOf(evaluation, before, now, operator.name);
  const body = toRecord(evaluation, findings, facts, before);
  const row: Row = { instance: name, ...evaluation, findings, changed: body !== undefined };
  return { row, entry: body === undefined ? undefined : evaluationEntry(name, body) };
}

/** Appends the entries, each under the hold of its ledger; one that a run holds is left for the next time. */
async function record(
  context: CommandContext,
  config: LoadedConfig,
  entries: readonly NewEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { journal, close } = await openWorkspace(context, workspaceFor(config));
  try {
    for (const entry of entries) {
      try {
        await appendHolding(journal, [entry]);
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.held') throw thrown;
        const name = entry.stream.slice('instance/'.length);
        context.stderr.write(`not on record yet: a run holds the ledger of ${name}\n`);
      }
    }
  } finally {
    await close();
  }
}

function printAll(context: CommandContext, items: readonly Row[]): void {
  const columns = [
    { title: 'instance', gives: true },
    { title: 'verdict' },
    { title: 'oldest check', drops: true },
    { title: 'age' },
    { title: 'period' },
    { title: 'reason' },
  ];
  printTable(
    context,
    columns,
    items.map((row) => {
      const oldest = oldestOf(row.checks);
      return [
        row.instance,
        VERDICT_WORDS[row.verdict],
        oldest?.id ?? '-',
        spanOf(oldest?.ageSeconds),
        spanOf(oldest?.periodSeconds),
        row.reason,
      ];
    }),
  );
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
  const from = since === undefined ? '' : ` since ${formatTime(since)} UTC`;
  context.stdout.write(`${instance}: ${VERDICT_WORDS[verdict]}${from}: ${reason}\n`);
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
    check.waiver === undefined ? check.reason : `${check.reason}; ${waiverWords(check)}`,
  ]);
  printTable(context, columns, rows);
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
