import type { KeySetting } from '../../machines/parts/verbs.ts';
import type { SendOutcome } from '../service/client.ts';
import type { ActivityResult } from './activity.ts';
import { because, ok } from './results.ts';

interface SentKey {
  readonly fingerprint: string;
  /** The key that is believed to be in force before. */
  readonly previous?: string | undefined;
  readonly run: string;
}

/**
 * What a call that carried a new key came to, and what the ledger learns of it. A lost answer is no failure: the ledger says
 * `key.uncertain`, both keys are kept, and the next backup tells.
 */
export function keyAnswer(
  sent: SendOutcome<unknown>,
  { fingerprint, previous, run }: SentKey,
): ActivityResult<KeySetting> {
  if (sent.outcome === 'accepted') {
    const set = { type: 'key.set', body: { fingerprint, run, answer: 'accepted' } };
    return ok({ answer: 'accepted', status: sent.status }, [set]);
  }
  if (sent.outcome !== 'unknown') return because(sent.failure);
  const body = { fingerprint, run, ...(previous === undefined ? {} : { previous }) };
  return ok({ answer: 'unknown', failure: sent.failure }, [{ type: 'key.uncertain', body }]);
}
