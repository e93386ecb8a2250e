import type { Group, Lane, Plan, ResolvedGroup, Step } from '../../machines/parts/plan.ts';
import { FINALLY, HEALTHY, NO_INSTANCE } from '../../machines/parts/plan.ts';
import { replacesData, touchesOf } from '../../machines/parts/touches.ts';
import { mostSimilar } from '../base/similar.ts';
import type { InstanceConfig } from '../config/schema.ts';

/** The parts of lifeboat.yaml that a plan names. */
export interface Surroundings {
  readonly instances: Readonly<Record<string, InstanceConfig>>;
  readonly hasApprovers: boolean;
  /** Targets of notifications. */
  readonly notified: readonly string[];
}

/** Does not fit lifeboat.yaml. */
export interface Misfit {
  /** In the file. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A plan with misfits is not run. Pure. */
export interface Resolved {
  readonly groups: readonly ResolvedGroup[];
  readonly misfits: readonly Misfit[];
}

/**
 * The instances of each group, in the order of lifeboat.yaml, and their targets; for a rehearsal those of
 * `drill.into`, if given. Pure.
 */
export function resolvePlan(plan: Plan, around: Surroundings, { rehearsal = false } = {}): Resolved {
  const misfits: Misfit[] = [];
  const into = rehearsal ? plan.drill?.into : undefined;
  const scratch = scratchOf(into, around);
  const groups = plan.groups.map((group, at) => {
    const add = (path: Misfit['path'], message: string) =>
      misfits.push({ path: ['groups', at, ...path], message });
    const found = lanesOf(group, around, add);
    const lanes = into === undefined ? found : found.map((lane) => rehearsedIn(lane, into, scratch));
    for (const [index, step] of group.steps.entries())
      checkStep(step, {
        group,
        lanes,
        around,
        add: (path, message) => add(['steps', index, ...path], message),
      });
    return { ...group, lanes, stopAt: stopAtOf(group, lanes.length), sizes: sizesOf(group, lanes.length) };
  });
  for (const [index, step] of plan.finally?.steps.entries() ?? []) {
    const add = (path: Misfit['path'], message: string) =>
      misfits.push({ path: ['finally', 'steps', index, ...path], message });
    checkStep(step, { group: undefined, lanes: [], around, add });
  }
  if (into === undefined) misfits.push(...sharedTargets(groups));
  for (const message of problemsOfScratch(groups, into, around))
    misfits.push({ path: ['drill', 'into'], message });
  if (plan.approve !== undefined && !around.hasApprovers)
    misfits.push({ path: ['approve'], message: NO_APPROVERS });
  return { groups, misfits };
}

/** By the pattern of `drill.into`, in the order of lifeboat.yaml. */
function scratchOf(into: string | undefined, { instances }: Surroundings): string[] {
  if (into === undefined || into.includes('{name}')) return [];
  const pattern = patternOf(into);
  return Object.keys(instances).filter((name) => instances[name]?.rehearsal === true && pattern.test(name));
}

/** Takes the next scratch instance; if none is left, the lane gets the pattern as its target. */
function rehearsedIn({ name, target }: Lane, into: string, scratch: string[]): Lane {
  if (target === undefined) return { name };
  return {
    name,
    target: into.includes('{name}') ? into.replaceAll('{name}', name) : (scratch.shift() ?? into),
  };
}

/** For the scratch instances of `drill.into`. Pure. */
export function rehearsalMisfits(plan: Plan, around: Surroundings): readonly Misfit[] {
  const { misfits } = resolvePlan(plan, around, { rehearsal: true });
  return misfits.filter(({ path }) => path[0] === 'drill');
}

function problemsOfScratch(
  groups: readonly Pick<ResolvedGroup, 'lanes'>[],
  into: string | undefined,
  around: Surroundings,
): readonly string[] {
  if (into === undefined) return [];
  const targets = groups.flatMap(({ lanes }) => lanes.flatMap(({ target }) => target ?? []));
  const lacking = targets.filter((target) => around.instances[target]?.rehearsal !== true);
  const [first] = lacking;
  if (first === undefined) return [];
  if (into.includes('{name}')) return [`${first} is no scratch instance of lifeboat.yaml (rehearsal: true)`];
  const has = targets.length - lacking.length;
  return [
    `a rehearsal needs ${targets.length} scratch instances (rehearsal: true) that fit ${into}; there are ${has}`,
  ];
}

const NO_APPROVERS = 'nobody can approve: lifeboat.yaml names no allowed signers (`approvals`)';

type Add = (path: Misfit['path'], message: string) => void;

function lanesOf({ for: selection }: Group, { instances }: Surroundings, add: Add): readonly Lane[] {
  if (selection === undefined) return [{ name: NO_INSTANCE }];
  const all = Object.keys(instances);
  const { tag, role, name, instances: named, target } = selection;
  for (const [index, one] of named?.entries() ?? [])
    if (!Object.hasOwn(instances, one)) add(['for', 'instances', index], unknownInstance(one, all));
  const tags = new Set(Object.values(instances).flatMap((one) => one.tags));
  if (tag !== undefined && !tags.has(tag))
    add(['for', 'tag'], [`no instance has the tag ${tag}`, ...mostSimilar(tag, [...tags])].join('; '));
  const fits = (one: string): boolean => {
    const config = instances[one];
    if (config === undefined) return false;
    if (tag !== undefined && !config.tags.includes(tag)) return false;
    if (name !== undefined && !patternOf(name).test(one)) return false;
    return config.role === (role ?? (named === undefined ? 'source' : config.role));
  };
  const found = named === undefined ? all.filter(fits) : named.filter(fits);
  if (found.length === 0) add(['for'], 'this selects no instance');
  const lanes = found.map((one) => ({ name: one, target: target?.replaceAll('{name}', one) }));
  for (const problem of problemsOfTargets(lanes, instances)) add(['for', 'target'], problem);
  return lanes;
}

function problemsOfTargets(lanes: readonly Lane[], instances: Surroundings['instances']): readonly string[] {
  const targeted = lanes.flatMap(({ name, target }) => (target === undefined ? [] : [{ name, target }]));
  const missing = targeted.filter(({ target }) => !Object.hasOwn(instances, target));
  const [first] = missing;
  const byTarget = Map.groupBy(targeted, ({ target }) => target);
  return [
    ...(first === undefined
      ? []
      : [
          missing.length === 1
            ? unknownInstance(first.target, Object.keys(instances))
            : `${missing.length} targets are not in lifeboat.yaml: ${missing.map(({ target }) => target).join(', ')}`,
        ]),
    ...targeted.flatMap(({ name, target }) =>
      name === target ? [`the target of ${name} is ${name} itself`] : [],
    ),
    ...[...byTarget].flatMap(([target, some]) =>
      some.length < 2 ? [] : [`${some.map(({ name }) => name).join(' and ')} have one target: ${target}`],
    ),
  ];
}

/** The second recovery into a target finds it not empty, half-way through the plan. */
function sharedTargets(groups: readonly ResolvedGroup[]): readonly Misfit[] {
  const all = groups.flatMap((group, at) =>
    group.lanes.flatMap(({ name, target }) => {
      const steps = group.steps.filter((step) => replacesTarget(step, target));
      return target === undefined || steps.length === 0 ? [] : [{ at, id: group.id, name, target, steps }];
    }),
  );
  return [...Map.groupBy(all, ({ target }) => target).values()].flatMap((some) =>
    some.flatMap((one, index) => {
      const before = some
        .slice(0, index)
        .find(({ at, steps }) => at !== one.at && areBothRun(steps, one.steps));
      if (before === undefined) return [];
      const message = `group ${before.id} already recovers ${before.name} into ${one.target}`;
      return [{ path: ['groups', one.at, 'for', 'target'], message }];
    }),
  );
}

/** Not if one is for a source that is up, and the other for one that is down. */
function areBothRun(some: readonly Step[], others: readonly Step[]): boolean {
  return some.some(({ when }) =>
    others.some((other) => when === undefined || other.when === undefined || when === other.when),
  );
}

function unknownInstance(name: string, all: readonly string[]): string {
  return [`there is no instance ${name} in lifeboat.yaml`, ...mostSimilar(name, all)].join('; ');
}

/** `*` stands for any text. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/gu, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'u');
}

interface Around {
  readonly group: Group | undefined;
  readonly lanes: readonly Lane[];
  readonly around: Surroundings;
  readonly add: Add;
}

function checkStep(step: Step, { group, lanes, around, add }: Around): void {
  const hasInstances = group?.for !== undefined;
  switch (step.kind) {
    case 'runbook':
      if (!hasInstances) add(['runbook'], 'a runbook needs an instance: this group has no `for`');
      else checkRunbook(step, lanes, add);
      return;
    case 'check':
      if (step.check.reconcile !== true) return;
      if (!hasInstances) add(['check', 'reconcile'], 'it asks an instance: this group has no `for`');
      for (const { name, target } of lanes)
        if (around.instances[target ?? name]?.reconcile === undefined)
          add(['check', 'reconcile'], `${target ?? name} has no \`reconcile\` in lifeboat.yaml`);
      return;
    case 'approve':
      if (!around.hasApprovers) add(['approve'], NO_APPROVERS);
      return;
    case 'notify': {
      const { to } = step.notify;
      if (to === undefined || around.notified.includes(to)) return;
      add(
        ['notify', 'to'],
        [`lifeboat.yaml notifies no ${to}`, ...mostSimilar(to, around.notified)].join('; '),
      );
      return;
    }
    default:
  }
}

/** Of `with`, by runbook. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  'disaster-recovery': ['phase'],
  'change-instance': ['action'],
  'restore-backup': ['backup'],
  'restore-point-in-time': ['time'],
};

function checkRunbook(step: Step & { readonly kind: 'runbook' }, lanes: readonly Lane[], add: Add): void {
  const { runbook, with: given } = step;
  for (const key of Object.keys(given))
    if (!TAKES[runbook]?.includes(key)) add(['with', key], `${runbook} takes no ${key}`);
  if (runbook === 'change-instance' && given.action === undefined)
    add(['runbook'], 'say what is done: with: { action: restart }');
  if (runbook === 'restore-point-in-time' && given.time === undefined)
    add(['runbook'], 'say which time: with: { time: 2026-03-01T02:59:00Z }');
  if (
    runbook === 'disaster-recovery' &&
    given.phase !== 'prepare' &&
    lanes.some(({ target }) => target === undefined)
  )
    add(['runbook'], 'a recovery needs a target: add one to `for`, such as target: "{name}-dr"');
}

/** Lanes in each wave: the last size repeats, a share is rounded up. */
function sizesOf({ waves }: Group, lanes: number): readonly number[] {
  const sizes: number[] = [];
  for (let left = lanes, wave = 0; left > 0; wave += 1) {
    const given = waves[Math.min(wave, waves.length - 1)] ?? lanes;
    const size = typeof given === 'number' ? given : Math.ceil((lanes * given.percent) / 100);
    sizes.push(Math.min(size, left));
    left -= size;
  }
  return sizes;
}

function stopAtOf({ stopWhen }: Group, lanes: number): number | undefined {
  if (stopWhen === undefined) return undefined;
  return 'failed' in stopWhen
    ? stopWhen.failed
    : Math.max(1, Math.ceil((lanes * stopWhen.failedShare) / 100));
}

/** The checks and last steps of a plan, to run like all others. */
export function closingGroups({ healthy, finally: last }: Pick<Plan, 'healthy' | 'finally'>): {
  readonly healthy: ResolvedGroup;
  readonly finally: ResolvedGroup;
} {
  const checks = healthy.map(
    (check, at): Step => ({ id: `healthy-${at + 1}`, kind: 'check', check, onFailure: 'pause' }),
  );
  return {
    healthy: groupOf(HEALTHY, checks),
    finally: { ...groupOf(FINALLY, last?.steps ?? []), timeout: last?.timeout },
  };
}

function groupOf(id: string, steps: readonly Step[]): ResolvedGroup {
  return {
    id,
    after: [],
    order: 'by-instance',
    waves: [1],
    settle: 0,
    maxConcurrency: 1,
    steps: [...steps],
    lanes: steps.length === 0 ? [] : [{ name: NO_INSTANCE }],
    stopAt: undefined,
    sizes: steps.length === 0 ? [] : [1],
  };
}

/** The target whose data a lane replaces, if any. */
export function targetOf({ steps }: Pick<ResolvedGroup, 'steps'>, { target }: Lane): string | undefined {
  return steps.some((step) => replacesTarget(step, target)) ? target : undefined;
}

function replacesTarget(step: Step, target: string | undefined): boolean {
  if (step.kind !== 'runbook') return false;
  const touches = touchesOf(step.runbook, { mode: step.with.phase, action: step.with.action, target });
  return replacesData(touches) && touches.target === 'replaced';
}
