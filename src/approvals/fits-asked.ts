import { failureOf } from '../base/errors.ts';
import type { RunEntryBody } from '../store/run-entries.ts';
import { type Challenge, challengeId, challengeText, parseChallenge } from './challenge.ts';

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
