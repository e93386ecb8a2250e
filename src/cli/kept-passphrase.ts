import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';

/** The passphrase of the vault, kept in memory for as long as the process lives. */
export interface KeptPassphrase {
  /** Whether whoever is asked may leave the prompt and go on without it. */
  readonly isOptional: boolean;
  /** The one that is kept; without one, asks for it, once for all that want it at the same time. */
  get(ask: () => Promise<Secret>): Promise<Secret>;
  /** Another one is to be asked for: this one was refused. */
  forget(): void;
}

export function keepPassphrase(): KeptPassphrase {
  let asked: Promise<Secret> | undefined;
  return {
    isOptional: false,
    get(ask) {
      if (asked !== undefined) return asked;
      const asking = ask();
      asked = asking;
      // Whoever entered nothing can be asked again.
      asking.catch(() => {
        if (asked === asking) asked = undefined;
      });
      return asking;
    },
    forget() {
      asked = undefined;
    },
  };
}

/**
 * The same for what looks on by itself, again and again: when the passphrase was not given or was refused, it
 * asks no second time, and takes what was entered for something else.
 */
export function askOnlyOnce(kept: KeptPassphrase): KeptPassphrase {
  let isAsked = false;
  return {
    isOptional: true,
    get: (ask) =>
      kept.get(() => {
        if (isAsked) return Promise.reject(locked());
        isAsked = true;
        return ask();
      }),
    forget: kept.forget,
  };
}

function locked(): LifeboatError {
  return new LifeboatError('keys.no-passphrase', 'the vault is locked: no passphrase was entered', {
    hints: ['starting or resuming a run asks for the passphrase again'],
    exitCode: EXIT.credentials,
  });
}
