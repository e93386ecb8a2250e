import { isNeverPassed } from '../../../machines/closing/evaluate.ts';
import { baselineDifferences, targetDifferences } from '../../../machines/parts/baseline.ts';
import type { TargetIdentity } from '../../../machines/parts/recovery-data.ts';
import type { Baseline } from '../../../machines/parts/task-data.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import type { ChangeFlags, Scene } from './planned-change.ts';

/** What a look found at an instance before a change, by the same look as the change's runbook. */
export interface Seen {
  /** Reasons against the change. A person may override most of them, with a reason. */
  readonly blockers: readonly Failure[];
  readonly warnings: readonly string[];
  /** The facts that the confirmation relies on; for a recovery from another instance, `target`. */
  readonly baseline?: Baseline | undefined;
  readonly target?: TargetIdentity | undefined;
}

/**
 * Looks at an instance that is changed in place. With `tolerant` neither a failed instance nor a backup in
 * progress blocks the change.
 */
export function lookInPlace(how: { readonly tolerant: boolean; readonly restores?: boolean }) {
  return async ({ instance, signal }: Pick<Scene, 'instance' | 'signal'>) => {
    const { lookAtInstance } = await import('../../activities/preflight.ts');
    return lookAtInstance(instance.service, { instance: instance.name, ...how }, signal);
  };
}

/**
 * Rejects while there are reasons against a change: with exit 3 if `--anyway REASON` overrides them, with
 * exit 2 if nothing does. Returns the lines of what the flags override. Nothing was sent.
 */
export function assertNotBlocked({ blockers }: Seen, { anyway }: ChangeFlags): readonly string[] {
  const never = blockers.find(isNeverPassed);
  const [first, ...others] = never === undefined ? blockers : [never];
  if (first === undefined) return [];
  if (never === undefined && anyway !== undefined)
    return blockers.map(({ shortMessage }) => `overridden: ${shortMessage}`);
  const hints = first.hints.filter((hint) => !/^(?:nothing was sent|to overwrite it on purpose)/u.test(hint));
  throw errorFrom(
    {
      ...first,
      shortMessage: `${first.shortMessage}; nothing was sent`,
      hints: [
        ...others.map(({ shortMessage }) => `also: ${shortMessage}`),
        ...hints,
        ...(never === undefined ? ['to do it anyway: add --anyway REASON'] : []),
      ],
    },
    never === undefined ? EXIT.waiting : EXIT.usage,
  );
}

/** Rejects, with exit 3, when the facts have changed since the confirmation. Nothing was sent. */
export function assertUnchanged(before: Seen, now: Seen): void {
  const changed = [
    ...(before.baseline && now.baseline ? baselineDifferences(before.baseline, now.baseline) : []),
    ...(before.target && now.target ? targetDifferences(before.target, now.target) : []),
  ];
  if (changed.length === 0) return;
  throw new LifeboatError('call.changed', `it has changed since (${changed.join('; ')}); nothing was sent`, {
    hints: ['look at it, then run the command again'],
    exitCode: EXIT.waiting,
  });
}
