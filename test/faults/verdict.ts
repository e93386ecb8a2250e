import { EXIT } from '../../src/base/errors.ts';
import type { Entry } from '../../src/store/journal.ts';
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
