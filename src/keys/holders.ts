import { createHash, randomBytes } from 'node:crypto';
import type { Secret } from '../base/secret.ts';
import { openText, sealText } from './escrow-copy.ts';

/** What a holder of escrow copies is asked to open. */
interface NewChallenge {
  readonly id: string;
  readonly recipient: string;
  /** The armoured age file that its holder opens. */
  readonly sealed: string;
  /** Of the text inside, which is a secret until the holder gives it. */
  readonly answerSha256: string;
}

/** A challenge for a recipient: a random text sealed to it. */
export async function makeChallenge(recipient: string): Promise<NewChallenge> {
  const id = randomBytes(4).toString('hex');
  const answer = `${id}-${randomBytes(16).toString('hex')}`;
  const sealed = await sealText(answer, [recipient]);
  return { id, recipient, sealed, answerSha256: createHash('sha256').update(answer).digest('hex') };
}

/** The answer to a challenge. Rejects with `escrow.not-for-you` or `escrow.damaged`. */
export async function answerTo(sealed: string, identities: readonly Secret[]): Promise<string> {
  return await openText(sealed, identities, 'the challenge');
}
