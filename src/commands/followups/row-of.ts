import type { OpenFollowUp } from '../../compose/open-follow-ups.ts';
import { type FollowUpRow, followUpRow } from '../../view/view-follow-ups.ts';

/** A follow-up as lists show it; if it names no owner, the person who began its run owns it. */
export function rowOf({ followUp, instance, run }: OpenFollowUp, now: Date): FollowUpRow {
  const { runId, runbook, by: operator } = run ?? {};
  return followUpRow(followUp, { instance, now, runId, runbook, operator });
}
