import { failureOf } from '../base/errors.ts';
import type { Entry } from '../store/journal.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { type Challenge, challengeId, challengeText, parseChallenge } from './challenge.ts';
import { type Plan, planHash } from './plan.ts';
import type { RequestState } from './request-state.ts';

/**
 * Whether what the record asks to be approved is what the run is about to do: the text is made again from the
 * plan of this moment and has to be the one on record, and it is one of this confirmation alone. Undefined
 * when it is, else the reason, for people. So an entry that was written by something other than the run can
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

/**
 * Whether an `approval.asked` is about the text that it holds: the text has the name that the entry gives it,
 * and says the run of the stream, and plan, target, order, requester and end of the entry. Undefined when it
 * does, else the reason, for people. Without this a signature over the text of one request would count for
 * another one. Pure.
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
  // An entry has whatever it was; the text has only printable ASCII, so the two are compared as texts.
  for (const [name, [word, value]] of Object.entries(said))
    if (challengeText({ ...challenge, [name]: value }) !== asked.text) return `its text has another ${word}`;
  return undefined;
}
