import type { Secret } from '../secret.ts';
import type { TokenReader } from './token-source.ts';

/** A token as it was read once; the object's identity tells readings apart. */
export interface HeldToken {
  readonly value: Secret;
}

export interface TokenCache {
  /** The token in use; the source is read only when there is none yet. */
  current(): Promise<HeldToken>;
  /** Reads the source now. */
  fresh(): Promise<HeldToken>;
  /** After a 401 on `refused`: whether there is another token to try, read once for all who ask at the same time. */
  renew(refused: HeldToken): Promise<boolean>;
}

/** Shares one reading of the token among all calls: a command like `cf oauth-token` takes a second or more. */
export function holdToken(read: TokenReader): TokenCache {
  let held: HeldToken | undefined;
  let reading: Promise<HeldToken> | undefined;

  const fresh = (): Promise<HeldToken> => {
    reading ??= read()
      .then((value) => {
        // The same text keeps its identity: to send it again would be refused again.
        if (held === undefined || !held.value.equals(value)) held = { value };
        return held;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    current: async () => held ?? fresh(),
    fresh,
    renew: async (refused) => {
      if (held !== refused) return true;
      try {
        return (await fresh()) !== refused;
      } catch {
        // The 401 says more than a source that has run dry in the meantime.
        return false;
      }
    },
  };
}
