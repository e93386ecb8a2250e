import { LifeboatError } from '../base/errors.ts';
import { Needles } from '../base/needles.ts';
import type { Secret } from '../base/secret.ts';
import { spellingsOf } from '../base/spellings.ts';
import { ascii } from './canonical.ts';

/** Shorter secrets also occur in ordinary words: they only count as a whole JSON string. */
const SHORT = 8;

export interface SecretGuard {
  add(secret: Secret): void;
  /** Whether this secret was added. */
  knows(secret: Secret): boolean;
  /** Throws `journal.secret` for a secret in any form; the error names `what`, not the text. */
  check(jsonText: string, what: string): void;
}

/** Some microseconds per entry, however many secrets there are. */
export function createSecretGuard(): SecretGuard {
  const needles = new Needles();
  const known = new Set<string>();
  return {
    add(secret) {
      if (known.has(secret.reveal())) return;
      known.add(secret.reveal());
      for (const form of formsOf(secret.reveal())) for (const one of [form, ascii(form)]) needles.add(one);
    },
    knows: (secret) => known.has(secret.reveal()),
    check(jsonText, what) {
      if (!needles.areIn(jsonText)) return;
      throw new LifeboatError('journal.secret', `${what} contains a secret and was not written`, {
        hints: [
          'nothing of it was written; what was sent before it stands in the journal: `lifeboat audit show last`',
          'this is a bug in lifeboat: please report it',
        ],
      });
    },
  };
}

function formsOf(secret: string): readonly string[] {
  return secret !== '' && secret.length < SHORT ? [JSON.stringify(secret)] : spellingsOf(secret);
}
