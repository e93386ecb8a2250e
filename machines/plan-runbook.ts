import * as z from 'zod';
import type { PlanInput } from './parts/plan.ts';
import type { Closing, Fact, Runbook } from './parts/runbook.ts';
import { type PlanContext, planMachine } from './plan.ts';

/** Its machine has a region for each group of the run. */
export const planRunbook: Runbook = {
  id: 'plan',
  title: 'recover by plan',
  titleOf: ({ input }: PlanContext) => `plan ${input.plan.plan}`,
  version: '1',
  get machine() {
    return planMachine(['group']);
  },
  machineFor: (input) => planMachine((input as PlanInput).groups.map(({ id }) => id)),
  input: z.custom<PlanInput>((value) => typeof value === 'object' && value !== null && 'groups' in value),
  // Its children touch the instances: each holds the ledger of its instance.
  touches: () => ({ source: 'not-called', target: 'none', lost: 'nothing' }),
  facts: factsOfPlan,
  failure: () => undefined,
  skipped: deviationsOfPlan,
  closing: closingOfPlan,
} as Runbook<PlanContext> as Runbook;

function factsOfPlan({ input, source }: PlanContext): readonly Fact[] {
  const lanes = input.groups.reduce(
    (sum, group) => sum + (group.for === undefined ? 0 : group.lanes.length),
    0,
  );
  return [
    { label: 'plan', value: input.plan.plan },
    { label: 'instances', value: lanes },
    { label: 'source', value: source },
  ];
}

/** People's decisions against the plan: steps passed, lanes left out, failures accepted. */
function deviationsOfPlan({
  groups,
}: PlanContext): readonly { readonly step: string; readonly reason: string }[] {
  return Object.entries(groups).flatMap(([id, { passed, out, accepted }]) => [
    ...Object.entries(passed).map(([key, { how, text }]) => ({
      step: `${id}/${key}`,
      reason: how === 'skipped' ? text : `done outside: ${text}`,
    })),
    ...Object.entries(out).map(([lane, reason]) => ({
      step: `${id}/${lane}`,
      reason: `taken out: ${reason}`,
    })),
    ...accepted.map((lane) => ({
      step: `${id}/${lane}`,
      reason: 'it failed, and the group continued without it',
    })),
  ]);
}

function closingOfPlan(context: PlanContext, finalState: string): Closing {
  const { input, stopped, results } = context;
  const { plan } = input.plan;
  const deviations = [...deviationsOfPlan(context)];
  const facts: Fact[] = results.map(({ group, done, failed, notRun }) => ({
    label: group,
    value: [
      `${done} done`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(notRun > 0 ? [`${notRun} not run`] : []),
    ].join(', '),
    tone: failed + notRun > 0 ? ('bad' as const) : ('good' as const),
  }));
  const summary = facts.length === 0 ? [] : [{ title: 'groups', facts }];
  const isSimulated = results.some(({ simulated = 0 }) => simulated > 0);
  const base = { summary, deviations, ...(isSimulated ? { simulated: true as const } : {}) };
  if (finalState === 'done' && isSimulated)
    return {
      outcome: 'done',
      proven: false,
      title: `plan ${plan}: every step is done, on a simulated service, so nothing is proven`,
      ...base,
    };
  if (finalState === 'done')
    return {
      outcome: 'done',
      proven: true,
      title: `plan ${plan}: every step of every instance is done`,
      ...base,
    };
  if (finalState === 'stopped')
    return {
      outcome: 'stopped',
      proven: false,
      title: `plan ${plan} was stopped: ${stopped ?? 'by a person'}`,
      ...base,
    };
  return {
    outcome: 'done-unproven',
    proven: false,
    title: `plan ${plan} has ended; not everything is done`,
    ...base,
  };
}
