import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';

/** The passphrase of the vault, kept in memory for as long as the process lives. */
export interface KeptPassphrase {
  /** For background work, which can do without it. */
  readonly isUnasked: boolean;
  /** The kept passphrase; without one, asks for it, once for all concurrent callers. */
  get(ask: () => Promise<Secret>): Promise<Secret>;
  /** Marks it as refused, with `why`: the next caller is asked for another one. */
  forget(why?: unknown): void;
  /** Forgets it: the next caller that needs it asks again. */
  askAgain(): void;
}

export function keepPassphrase(): KeptPassphrase {
  let asked: Promise<Secret> | undefined;
  return {
    isUnasked: false,
    get(ask) {
      if (asked !== undefined) return asked;
      const asking = ask();
      asked = asking;
      // After an empty input the person can be asked again.
      asking.catch(() => {
        if (asked === asking) asked = undefined;
      });
      return asking;
    },
    forget() {
      asked = undefined;
    },
    askAgain: () => undefined,
  };
}

/**
 * The same for background readers: if the passphrase was not given or was refused, it does not ask a second
 * time before `askAgain`, and uses what was entered for another caller.
 */
export function askOnlyOnce(kept: KeptPassphrase): KeptPassphrase {
  let isAsked = false;
  let refused: unknown;
  return {
    isUnasked: true,
    get: (ask) =>
      kept.get(() => {
        if (isAsked) return Promise.reject(refused ?? locked());
        isAsked = true;
        return ask();
      }),
    forget(why) {
      // A repeated refusal of the same passphrase says nothing of a newer one.
      if (why !== refused || why === undefined) kept.forget(why);
      refused = why;
    },
    askAgain() {
      isAsked = false;
      refused = undefined;
    },
  };
}

function locked(): LifeboatError {
  return new LifeboatError('keys.no-passphrase', 'the vault file is locked: no passphrase was entered', {
    hints: ['p on the keys asks for it again, as does a run that is started or resumed'],
    exitCode: EXIT.credentials,
  });
}
