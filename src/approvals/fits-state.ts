import { failureOf } from '../base/errors.ts';
import type { Entry } from '../store/journal.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { type Challenge, challengeId, challengeText, parseChallenge } from './challenge.ts';
import { type Plan, planHash } from './plan.ts';
import type { RequestState } from './request-state.ts';

/**
 * Whether the request on record is what the run is about to do: the text rebuilt from the present plan must
 * equal the recorded one, and it must belong to this confirmation. Undefined if so, otherwise the reason, for
 * people. So an entry that was not written by the run cannot move a signature to another purpose. Pure.
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

/** No one's mistake: the request was valid, but for another plan. */
export const CHANGED = 'what the run is about to do has changed since';

/**
 * The challenge of a plan, with the facts outside it: when, by whom and after which entry it was requested.
 */
export function challengeOf(
  plan: Plan,
  when: Pick<Challenge, 'entry' | 'requester' | 'asked' | 'expires'>,
): Challenge {
  const { entry, requester, asked, expires } = when;
  const runbook = `${plan.runbook} ${plan.version}`;
  return { ...plan, runbook, entry, requester, asked, expires, plan: planHash(plan) };
}

/**
 * An approval counts once. A challenge of this confirmation was requested after the event before the one that
 * led here, and nothing earlier mentions it.
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

/**
 * Whether an `approval.asked` matches its text: the text has the name in the entry, the run of the stream,
 * and the entry's plan, target, order, requester and expiry. Undefined if so, otherwise the reason, for
 * people. Without this check a signature over one request would count for another. Pure.
 */
export function fitsAsked(
  asked: RunEntryBody<'approval.asked'>,
  { runId }: { readonly runId: string },
): string | undefined {
  if (challengeId(asked.text) !== asked.challenge) return 'its text is not the one that it names';
  let challenge: Challenge;
  try {
    challenge = parseChallenge(asked.text);
  } catch (thrown) {
    return `its text cannot be read: ${failureOf(thrown).shortMessage}`;
  }
  const said = {
    run: ['run', runId],
    plan: ['plan', asked.plan],
    target: ['target', asked.target],
    order: ['order', asked.order],
    requester: ['requester', asked.requester],
    expires: ['end', asked.expiresAt],
  } as const;
  // An entry has the original values; the text has only printable ASCII, so compare both as texts.
  for (const [name, [word, value]] of Object.entries(said))
    if (challengeText({ ...challenge, [name]: value }) !== asked.text) return `its text has another ${word}`;
  return undefined;
}
