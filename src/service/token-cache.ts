import { performance } from 'node:perf_hooks';
import type { Secret } from '../base/secret.ts';
import type { TokenReader } from './token-source.ts';

/** A token as it was read once; the object's identity tells readings apart. */
export interface HeldToken {
  readonly value: Secret;
}

export interface TokenCache {
  /** The token in use; the source is read only when there is none yet. */
  current(): Promise<HeldToken>;
  /** Reads the source now, unless `ready` has just done so. */
  fresh(): Promise<HeldToken>;
  /** Reads the source for the next `fresh`, so that nothing waits for a command in between. */
  ready(): Promise<void>;
  /** After a 401 on `refused`: whether there is another token, read once for all who ask. */
  renew(refused: HeldToken): Promise<boolean>;
}

/** So long a token that was read for a call waits for it; after that it may have expired. */
const READY_MS = 60_000;

/**
 * Shares one reading of the token among all calls: a command like `cf oauth-token` takes a second or more.
 */
export function holdToken(read: TokenReader): TokenCache {
  let held: HeldToken | undefined;
  let reading: Promise<HeldToken> | undefined;

  let readyAt: number | undefined;

  const readAnew = (): Promise<HeldToken> => {
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
    current: async () => held ?? readAnew(),
    fresh: async () => {
      const isReady = readyAt !== undefined && performance.now() - readyAt < READY_MS;
      readyAt = undefined;
      return isReady && held !== undefined ? held : readAnew();
    },
    ready: async () => {
      await readAnew();
      readyAt = performance.now();
    },
    renew: async (refused) => {
      if (held !== refused) return true;
      try {
        return (await readAnew()) !== refused;
      } catch {
        // The 401 says more than a source that has run dry in the meantime.
        return false;
      }
    },
  };
}
