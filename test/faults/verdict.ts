import { EXIT } from '../../src/base/errors.ts';
import { runbookNamed } from '../../src/compose/runbook-files.ts';
import { measure } from '../../src/report/measure/measure.ts';
import { slicesOf } from '../../src/report/measure/slices.ts';
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
 * - something between the product and the service that sends a call twice has it carried out twice;
 * - a binding is removed by its own id: who asks again before the platform's worker has come to it removes
 *   nothing more;
 * - a backup that the service does not know by the id that it gave is asked for once more, where the run has
 *   no other way on;
 * - a backup whose status is a word that nobody knows proves nothing, so that a preparation makes one that
 *   does.
 */
export function allowedMore(
  { flow, kind, plan, effects }: Case,
  change: string,
  entries: readonly Entry[],
): number {
  if (plan.fault === 'task-failed') return change === plan.route ? 1 : 0;
  if (plan.fault === 'sent-twice' && change === plan.route)
    return plan.times === 'once' ? 1 : (effects.get(change) ?? 0);
  if (change === 'DELETE /v3/service_credential_bindings/:guid') return Number.POSITIVE_INFINITY;
  if (change !== 'POST orders /backups') return 0;
  if (plan.fault === 'other-instance' && plan.route === change)
    return entries.filter((entry) => isAnswer(entry, 'operator.backUp')).length;
  if (kind === 'key') return entries.filter((entry) => isAnswer(entry, 'operator.setAgain')).length;
  const isPreparation = flow.name === 'disaster-recovery --prepare';
  return isPreparation && plan.fault === 'unknown-enum' && plan.route === 'GET orders /backups' ? 1 : 0;
}

function isAnswer({ type, body }: Entry, answer: string): boolean {
  const { event } = body as { readonly event?: { readonly type?: string } };
  return type === 'event' && event?.type === answer;
}

/** Long enough for every run here. */
const OBJECTIVES = { rtoSeconds: 86_400, rpoSeconds: 86_400 };

/** What a run claims that ended while every time of the service was in the future. */
export function claimsAtEnd({ flow, plan }: Case, entries: readonly Entry[]): readonly string[] {
  if (plan.fault !== 'future' || plan.times === 'once') return [];
  const sliceOf = slicesOf(runbookNamed(flow.name.split(/[ ,]/u)[0] ?? ''));
  const measures = sliceOf && measure(entries, { sliceOf, objectives: OBJECTIVES });
  return measures?.meetsRpo === true ? ['that the recovery point objective is met'] : [];
}

/** Kinds whose second effect is a task of its own, that the service lists. */
const LISTED: ReadonlySet<Case['kind']> = new Set<Case['kind']>(['task', 'nameless']);

/** What a run leaves out: a task that a proxy in between has sent beside its own. */
export function claimsOf(
  { kind, plan, effects }: Case,
  done: ReadonlyMap<string, number>,
  entries: readonly Entry[],
): readonly string[] {
  const isTwice = (done.get(plan.route) ?? 0) > (effects.get(plan.route) ?? 0);
  if (plan.fault !== 'sent-twice' || !isTwice || !LISTED.has(kind)) return [];
  const isTold = entries.some(({ body }) => /"(?:beside|candidates)":\[\{/u.test(JSON.stringify(body)));
  return isTold ? [] : ['nothing of the second'];
}
