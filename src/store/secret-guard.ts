import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { spellingsOf } from '../base/spellings.ts';
import { ascii } from './canonical.ts';

/** Shorter secrets also occur in ordinary words, so they only count as a whole JSON string. */
const SHORT = 8;

export interface SecretGuard {
  add(secret: Secret): void;
  /**
   * Throws `journal.secret` for JSON text with a secret in any form; the error names `what`, not the text.
   */
  check(jsonText: string, what: string): void;
}

/** Scans each entry before it is journalled, by substring search: about a microsecond per entry. */
export function createSecretGuard(): SecretGuard {
  const needles = new Set<string>();
  return {
    add(secret) {
      for (const form of formsOf(secret.reveal())) needles.add(form).add(ascii(form));
    },
    check(jsonText, what) {
      for (const needle of needles) {
        if (!jsonText.includes(needle)) continue;
        throw new LifeboatError('journal.secret', `${what} contains a secret and was not written`, {
          hints: [
            'nothing of it was written; what was sent before it stands in the journal: `lifeboat audit show last`',
            'this is a bug in lifeboat: please report it',
          ],
        });
      }
    },
  };
}

/** A short secret is found only as a whole JSON string. */
function formsOf(secret: string): readonly string[] {
  return secret !== '' && secret.length < SHORT ? [JSON.stringify(secret)] : spellingsOf(secret);
}
