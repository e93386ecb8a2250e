import { EXIT } from '../../src/base/errors.ts';
import type { Entry } from '../../src/store/journal.ts';
import type { Case } from './cases.ts';
import type { Plan } from './director.ts';
import type { Verdict } from './table.ts';

/** The exit codes that a run without a person may leave with (design: command line). */
export function exitsOf(verdict: Verdict, times: Plan['times']): readonly number[] {
  return verdict === 'wait' && times === 'once' ? [EXIT.closed] : EXITS[verdict];
}

const EXITS: Readonly<Record<Verdict, readonly number[]>> = {
  on: [EXIT.closed],
  retry: [EXIT.closed],
  wait: [EXIT.waiting],
  ask: [EXIT.waiting],
  token: [EXIT.credentials],
  // The list of the service decides, or a person does.
  doubt: [EXIT.closed, EXIT.inDoubt],
  // A question as well, or the end of a run without proof.
  failed: [EXIT.waiting, EXIT.failed],
  'n/a': [],
};

/** An answer was lost. That a restore to a time names no restore is no loss. */
export function wasInDoubt(entries: readonly Entry[]): boolean {
  return entries.some(({ type, body }) => {
    const { sent, verb, failure } = body as { sent?: string; verb?: string; failure?: { code: string } };
    if (type !== 'intent.outcome' || sent !== 'unknown') return false;
    return verb !== 'restoreToTime' || failure?.code !== 'service.no-id';
  });
}

/**
 * How much more often than in an undisturbed run a change may have been carried out, and by whose wish. None
 * but these:
 *
 * - what has failed as a task is asked for once more by the person who tries again;
 * - a key that was not set after all shows in a backup, which is followed by another once a person has it set
 *   again;
 * - a binding is removed by its own id: who asks again before the platform's worker has come to it removes
 *   nothing more;
 * - a backup whose status is a word that nobody knows proves nothing, so that a preparation makes one that
 *   does.
 */
export function allowedMore({ flow, kind, plan }: Case, change: string, entries: readonly Entry[]): number {
  if (plan.fault === 'task-failed') return change === plan.route ? 1 : 0;
  if (change === 'DELETE /v3/service_credential_bindings/:guid') return Number.POSITIVE_INFINITY;
  if (change !== 'POST orders /backups') return 0;
  if (kind === 'key') return entries.filter((entry) => isAnswer(entry, 'operator.setAgain')).length;
  const isPreparation = flow.name === 'disaster-recovery --prepare';
  return isPreparation && plan.fault === 'unknown-enum' && plan.route === 'GET orders /backups' ? 1 : 0;
}

function isAnswer({ type, body }: Entry, answer: string): boolean {
  const { event } = body as { readonly event?: { readonly type?: string } };
  return type === 'event' && event?.type === answer;
}
