import { counted } from '../../../base/format.ts';
import type { RunRow } from '../../../view/app/sources.ts';
import { VERDICT_WORDS } from '../../../view/app/status-cells.ts';
import type { AppEffect, Around } from '../../live-screen.ts';
import { span } from '../../span.ts';
import type { Choice } from './rows.ts';

/** As many of a plan's instances have to be gone before it is offered before everything else. */
const REGION = 2;

const LOOKS = {
  text: 'looks at every instance and target, then asks for the name of each group',
  tone: 'plain',
} as const;

interface PlanChoice extends Choice {
  /** Whether it comes before everything else: its region is gone, or it has begun. */
  readonly isGone: boolean;
  readonly effect: AppEffect;
}

interface Offer {
  readonly says: string;
  readonly does: string;
  readonly effect: AppEffect;
}

/**
 * The plans that cover the instance, or all of them: to go on with one that has begun, to recover where
 * instances are gone, else to rehearse; a plan that recovers nothing into a target is run.
 */
export function planChoices(
  instance: string | undefined,
  { facts }: Pick<Around, 'facts'>,
): readonly PlanChoice[] {
  const fleet = facts.get('fleet', null).last?.value;
  const runs = facts.get('runs', null).last?.value ?? [];
  const gone = new Set(
    (fleet?.instances ?? []).flatMap((one) => (one.isDown || one.notFound !== undefined ? [one.name] : [])),
  );
  return (fleet?.plans ?? []).flatMap(
    ({ plan, verdict, reason, instances, checks }): readonly PlanChoice[] => {
      const names = instances.map((one) => one.instance);
      if (instance !== undefined && !names.includes(instance)) return [];
      const open = runs.find((run) => run.status === 'open' && isOf(run, plan));
      const down = names.filter((name) => gone.has(name)).length;
      const stateOf = (id: string) => checks.find((check) => check.id === id)?.state;
      // A plan that overwrites no target, such as one that prepares, is no way out of a lost region.
      const hasTargets = stateOf('targets') !== 'not-applicable';
      const isGone = open !== undefined || (down >= REGION && hasTargets);
      const offer = open === undefined ? toBegin(plan, { names, down, hasTargets }) : toGoOn(plan, open);
      const { says, does, effect } = offer;
      const isUnread = open === undefined && stateOf('file') === 'red';
      return [
        {
          key: `plan:${plan}`,
          isGone,
          effect,
          text: `${says} ${does} disaster dr region plan`,
          cells: () => [[span(says)], [span(does, 'text.dim')]],
          disabled: isUnread ? reason : undefined,
          details: () => [
            { text: `${VERDICT_WORDS[verdict]}: ${reason}`, tone: verdict === 'not-ready' ? 'bad' : 'plain' },
            ...(open === undefined ? [LOOKS] : []),
          ],
        },
      ];
    },
  );
}

/** The run of a plan is about `plan.NAME`: no instance has such a name. */
function isOf({ runbook, instance }: RunRow, plan: string): boolean {
  return runbook === 'plan' && instance === `plan.${plan}`;
}

function toGoOn(plan: string, { runId, where }: RunRow): Offer {
  return {
    says: `go on with plan ${plan}`,
    does: `run ${runId} of it is open: ${where}`,
    effect: { type: 'resume', runId },
  };
}

function toBegin(
  plan: string,
  {
    names,
    down,
    hasTargets,
  }: { readonly names: readonly string[]; readonly down: number; readonly hasTargets: boolean },
): Offer {
  const all = counted(names.length, 'instance');
  const begin = (rehearsal: boolean, sourceDown: boolean): AppEffect => ({
    type: 'start-plan',
    wish: { plan, rehearsal, sourceDown },
  });
  if (down >= REGION && hasTargets)
    return {
      says: `${down} of ${all} of plan ${plan} are gone`,
      does: `recover ${all} by the plan`,
      effect: begin(false, true),
    };
  if (hasTargets)
    return {
      says: `rehearse plan ${plan}`,
      does: `recover ${all} into scratch targets`,
      effect: begin(true, false),
    };
  return {
    says: `run plan ${plan}`,
    does:
      names.length === 0 ? 'its steps concern no instance' : `its steps on ${all}; no target is overwritten`,
    effect: begin(false, false),
  };
}

/** What choosing the row of a plan does; undefined for any other row. */
export function planEffectOf(key: string, around: Pick<Around, 'facts'>): AppEffect | undefined {
  return planChoices(undefined, around).find((one) => one.key === key)?.effect;
}
