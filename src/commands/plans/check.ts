import { initialContext } from '../../../machines/context.ts';
import { runbooks } from '../../../machines/index.ts';
import {
  FINALLY,
  HEALTHY,
  type Lane,
  type PlanInput,
  type ResolvedGroup,
  type Step,
} from '../../../machines/parts/plan.ts';
import { mainPathOf } from '../../../machines/parts/states.ts';
import { replacesData, touchesOf } from '../../../machines/parts/touches.ts';
import { EXIT } from '../../base/errors.ts';
import { counted, formatSeconds } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { readFleetRecord } from '../../compose/fleet-record.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import { wasUsed } from '../../plans/checks.ts';
import { forecastOf, shownForecast } from '../../plans/forecast.ts';
import { assertFits } from '../../plans/plan-file.ts';
import { closingGroups, resolvePlan, targetOf } from '../../plans/resolve.ts';
import { weaknessesIn } from '../../plans/weaknesses.ts';
import { plannedSteps } from '../../view/dry-run-view.ts';
import { planNamed, surroundingsOf } from './plan-files.ts';
import { readHistories } from './plan-history.ts';
import { stepInWords } from './step-words.ts';

type Checked = ResultOf<'plan-check'>;

/**
 * `lifeboat plans check PLAN`: every mistake (exit 2), or what a run would do. Exit 1 for a plan that can be
 * run and has weaknesses. Sends nothing.
 */
export const plansCheck: Action<object> = async (context, [word = '']) => {
  const config = await loadConfig(context.env, context.configPath);
  const read = await planNamed(config, word);
  const { plan, text, sha256 } = read;
  const surroundings = surroundingsOf(config);
  const { groups, misfits } = resolvePlan(plan, surroundings);
  assertFits(read, misfits);
  const journal = await openJournalIfAny(context);
  try {
    const { timeOf } = await (await readHistories(journal))(plan.plan);
    const input: PlanInput = { plan, groups, text, sha256, rehearsal: false, source: 'up' };
    const forecast = forecastOf(input, timeOf);
    const closing = closingGroups(plan);
    const result: Checked = {
      plan: plan.plan,
      sha256,
      groups: groups.map((group) => {
        const times = forecast.groups.find(({ id }) => id === group.id);
        return {
          ...groupOf(group),
          ...(times === undefined ? {} : { seconds: (times.endMs - times.beginMs) / 1000 }),
        };
      }),
      healthy: closing.healthy.steps.map((step) => stepOf(step, closing.healthy.lanes)),
      finally: closing.finally.steps.map((step) => stepOf(step, closing.finally.lanes)),
      forecast: shownForecast(forecast, plan.objectives),
      findings: read
        .placesOf(weaknessesIn(plan, { surroundings, filled: await filledOf(context, groups) }))
        .map(({ line, column, message }) => ({ line, column, message })),
    };
    await printResult(context, 'plan-check', result, () => print(context, read.path, result));
    return result.findings.length > 0 ? EXIT.failed : EXIT.closed;
  } finally {
    await journal?.close();
  }
};

/** The targets that hold data of their own, as far as the record shows it. */
async function filledOf(
  context: CommandContext,
  groups: readonly ResolvedGroup[],
): Promise<ReadonlySet<string>> {
  const targets = groups.flatMap((group) => group.lanes.flatMap((lane) => targetOf(group, lane) ?? []));
  const records = await readFleetRecord(context, [...new Set(targets)]);
  return new Set(
    targets.filter((name) => {
      const record = records.get(name);
      return record?.state === 'known' && wasUsed(record.value);
    }),
  );
}

function groupOf({ id, after, sizes, lanes, stopAt, maxConcurrency, steps, ...group }: ResolvedGroup) {
  let begun = 0;
  const waves = sizes.map((size) => {
    const wave = lanes.slice(begun, begun + size);
    begun += size;
    return wave.map(({ name, target }) => ({ instance: name, ...(target === undefined ? {} : { target }) }));
  });
  return {
    id,
    after,
    waves: group.for === undefined ? [] : waves,
    ...(stopAt === undefined ? {} : { stopAt }),
    maxConcurrency,
    steps: steps.map((step) => stepOf(step, lanes)),
  };
}

function stepOf(step: Step, lanes: readonly Lane[]) {
  return {
    id: step.id,
    kind: step.kind,
    what: stepInWords(step),
    calls: changesOf(step),
    overwrites: [...new Set(lanes.flatMap((lane) => overwrittenBy(step, lane)))],
  };
}

/** The calls of a step that change something at the service, in order. */
function changesOf(step: Step): readonly string[] {
  const runbook = step.kind === 'runbook' ? runbooks[step.runbook] : undefined;
  if (step.kind !== 'runbook' || runbook === undefined) return [];
  const { phase: mode, action } = step.with;
  const context = initialContext(step.runbook, { instance: 'NAME', target: 'TARGET', mode, action });
  const path = mainPathOf(runbook.machine, context);
  const calls = plannedSteps(runbook, { instance: 'the instance', target: 'the target' }, path).flatMap(
    ({ calls: of }) => of.filter(({ changes }) => changes),
  );
  return calls.map(({ method, path: to, on }) => `${method} ${to} on ${on}`);
}

function overwrittenBy(step: Step, { name, target }: Lane): readonly string[] {
  if (step.kind !== 'runbook') return [];
  const touches = touchesOf(step.runbook, { mode: step.with.phase, action: step.with.action, target });
  if (!replacesData(touches)) return [];
  return [touches.target === 'replaced' ? (target ?? name) : name];
}

function print(
  { stdout }: CommandContext,
  path: string,
  { plan, groups, forecast, findings, ...closing }: Checked,
): void {
  const line = (text: string) => stdout.write(`${show(text, 400)}\n`);
  const printSteps = (steps: Checked['groups'][number]['steps']) => {
    for (const { id, what, calls, overwrites } of steps) {
      line(`  ${id}: ${what}`);
      for (const call of calls) line(`    ${call}`);
      if (overwrites.length > 0) line(`    overwrites ${overwrites.join(', ')}`);
    }
  };
  line(`plan ${plan}: ${counted(groups.length, 'group')}`);
  for (const { id, after, waves, stopAt, maxConcurrency, steps } of groups) {
    const instances = waves.flat().length;
    line('');
    line(`${id}${after.length === 0 ? '' : `, after ${after.join(' and ')}`}`);
    for (const [at, wave] of waves.entries())
      line(
        `  wave ${at + 1}: ${wave.map(({ instance, target }) => (target === undefined ? instance : `${instance} -> ${target}`)).join(', ')}`,
      );
    if (instances > 1) line(`  at once: ${Math.min(maxConcurrency, instances)} of ${instances}`);
    if (stopAt !== undefined) line(`  stops with failure ${stopAt} of ${instances}`);
    printSteps(steps);
  }
  for (const phase of [HEALTHY, FINALLY] as const) {
    if (closing[phase].length === 0) continue;
    line('');
    line(phase);
    printSteps(closing[phase]);
  }
  line('');
  line(forecastInWords(forecast));
  for (const { line: at, column, message } of findings) line(`${path}:${at}:${column}: ${message}`);
}

function forecastInWords({ seconds, path, steps, unknown, rtoSeconds }: Checked['forecast']): string {
  const known = steps - unknown;
  if (known === 0) return 'how long it takes: unknown, because no step has been run before';
  const least =
    unknown === 0 ? '' : `at least, since ${unknown} of ${steps} steps have not been run before: `;
  const rto = rtoSeconds === undefined ? '' : `; the RTO is ${formatSeconds(rtoSeconds)}`;
  return `how long it takes by earlier runs: ${least}${formatSeconds(seconds)} by way of ${path.join(', ')}${rto}`;
}
