import type { Entry } from '../store/journal.ts';
import { readRunEntry } from '../store/run-entries.ts';
import { type Challenge, challengeText, parseChallenge } from './challenge.ts';
import { fitsAsked } from './fits-asked.ts';
import { type Plan, planHash } from './plan.ts';
import type { RequestState } from './request-state.ts';

/**
 * Whether what the record asks to be approved is what the run is about to do: the text is made again from the
 * plan of this moment and has to be the one on record, and it is one of this confirmation alone. Undefined
 * when it is, else the reason, for people. So an entry that was written by somebody else than the run can
 * lead no signature to where it was not given. Pure.
 */
export function fitsState(
  asked: NonNullable<RequestState['asked']>,
  plan: Plan,
  entries: readonly Entry[],
): string | undefined {
  const misfit = fitsAsked(asked, { runId: plan.run });
  if (misfit !== undefined) return misfit;
  const said = parseChallenge(asked.text);
  if (said.plan !== planHash(plan)) return CHANGED;
  if (challengeText(challengeOf(plan, said)) !== asked.text)
    return 'its text is not what the run is about to do';
  return isOfThisConfirmation(asked.challenge, said, entries)
    ? undefined
    : 'its text belongs to an earlier confirmation';
}

/** The reason that is nobody's doing: the request was good, for another plan. */
export const CHANGED = 'what the run is about to do has changed since';

/** The challenge of a plan, with what no plan knows: when, by whom and after which entry it was asked. */
export function challengeOf(
  plan: Plan,
  when: Pick<Challenge, 'entry' | 'requester' | 'asked' | 'expires'>,
): Challenge {
  const { entry, requester, asked, expires } = when;
  const runbook = `${plan.runbook} ${plan.version}`;
  return { ...plan, runbook, entry, requester, asked, expires, plan: planHash(plan) };
}

/**
 * An approval counts once. A challenge of this confirmation was asked after the event before the one that led
 * here, and nothing earlier speaks of it.
 */
function isOfThisConfirmation(challenge: string, { entry }: Challenge, entries: readonly Entry[]): boolean {
  const arrived = entries.findLastIndex(({ type }) => type === 'event');
  const before = entries.slice(0, Math.max(arrived, 0));
  const since = before.findLast(({ type }) => type === 'event')?.seq ?? 0;
  const after = Number(entry);
  const at = entries.findLast(({ type }) => type === 'approval.asked')?.seq ?? 0;
  if (!(after >= since && after < at)) return false;
  return !before.some((one) => {
    const read = one.type.startsWith('approval.') ? readRunEntry(one) : undefined;
    return (read?.body as { readonly challenge?: string } | undefined)?.challenge === challenge;
  });
}
