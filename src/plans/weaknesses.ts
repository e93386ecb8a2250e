import type { Check, Plan, ResolvedGroup, Step } from '../../machines/parts/plan.ts';
import { comparedCount, fitsComparison } from '../base/comparison.ts';
import { type Misfit, rehearsalMisfits, resolvePlan, type Surroundings, targetOf } from './resolve.ts';

/** Besides the file of the plan. */
interface Around {
  readonly surroundings: Surroundings;
  /** Instances that hold data of their own, by the record. */
  readonly filled: ReadonlySet<string>;
}

/**
 * Checks that cannot fail, steps without a written way back, notifications without a receiver, targets that
 * hold data, and a rehearsal with too few scratch instances. Each with its place in the file. Pure.
 */
export function weaknessesIn(plan: Plan, { surroundings, filled }: Around): readonly Misfit[] {
  const { groups, healthy, finally: last } = plan;
  const found = (step: Step, path: Misfit['path']) => [
    ...findingsOf(step, path),
    ...tellsNobody(step, path, surroundings),
  ];
  return [
    ...groups.flatMap(({ steps }, at) =>
      steps.flatMap((step, index) => found(step, ['groups', at, 'steps', index])),
    ),
    ...healthy.flatMap((check, at) => cannotFail(check, ['healthy', at])),
    ...(last?.steps ?? []).flatMap((step, at) => found(step, ['finally', 'steps', at])),
    ...filledTargets(resolvePlan(plan, surroundings).groups, filled),
    ...rehearsalMisfits(plan, surroundings),
    ...(healthy.length === 0
      ? [
          {
            path: ['plan'],
            message: 'it has no `healthy`: its recovery time ends with the last step, whatever works then',
          },
        ]
      : []),
  ];
}

function tellsNobody(step: Step, path: Misfit['path'], { notified }: Surroundings): readonly Misfit[] {
  if (step.kind !== 'notify' || notified.length > 0) return [];
  return [
    {
      path: [...path, 'notify'],
      message: `${step.id} tells nobody: lifeboat.yaml names no target of notifications (\`notify\`)`,
    },
  ];
}

function filledTargets(groups: readonly ResolvedGroup[], filled: Around['filled']): readonly Misfit[] {
  return groups.flatMap((group, at) =>
    group.lanes.flatMap((lane) => {
      const target = targetOf(group, lane);
      if (target === undefined || !filled.has(target)) return [];
      return [
        {
          path: ['groups', at, 'for', 'target'],
          message: `target ${target} holds data by the record: a recovery takes an empty one`,
        },
      ];
    }),
  );
}

function findingsOf(step: Step, path: Misfit['path']): readonly Misfit[] {
  const undo =
    step.undo === undefined && CHANGES.has(step.kind)
      ? [
          {
            path: [...path, 'id'],
            message: `${step.id} has no undo: say how it is taken back, or "none; WHY"`,
          },
        ]
      : [];
  return step.kind === 'check' ? cannotFail(step.check, [...path, 'check']) : undo;
}

/** Change something outside of lifeboat. */
const CHANGES: ReadonlySet<Step['kind']> = new Set(['runbook', 'manual', 'command']);

/** Programs that always end well. */
const ALWAYS_TRUE = new Set(['true', ':', 'echo', 'printf']);

function cannotFail(check: Check, path: Misfit['path']): readonly Misfit[] {
  const why = whyNever(check);
  return why === undefined ? [] : [{ path: [...path], message: `this check cannot fail: ${why}` }];
}

function whyNever({ sql, reconcile, command, expect = {} }: Check): string | undefined {
  const { rows, age, exit = 0 } = expect;
  if (sql !== undefined || reconcile === true) {
    if (rows === undefined && age === undefined)
      return 'an empty database answers as well; say with `expect` how many rows there are, or how new they are';
    const wanted = rows === undefined ? undefined : comparedCount(rows);
    if (age === undefined && wanted !== undefined && fitsComparison(0, wanted)) {
      if (wanted.sign.startsWith('>')) return 'an empty database has that many rows as well';
      if (wanted.value > Number.MAX_SAFE_INTEGER) return 'no database has more rows';
    }
  }
  const [program = ''] = command ?? [];
  if (exit === 0 && expect.text === undefined && ALWAYS_TRUE.has(program))
    return `${program} always ends well`;
  return undefined;
}
