import { performance } from 'node:perf_hooks';
import type { Secret } from '../base/secret.ts';
import type { TokenReader } from './token-source.ts';

/** A token from one reading of its source; the object's identity distinguishes readings. */
export interface HeldToken {
  readonly value: Secret;
}

export interface TokenCache {
  /** The token in use; reads the source only if there is none yet. */
  current(): Promise<HeldToken>;
  /** Reads the source now, unless `ready` has just done so. */
  fresh(): Promise<HeldToken>;
  /** Reads the source for the next `fresh`, so that it does not wait for a command. */
  ready(): Promise<void>;
  /** After a 401 on `refused`: whether there is another token; read once for all callers. */
  renew(refused: HeldToken): Promise<boolean>;
}

/** How long a token read in advance stays valid for its call; after that it may have expired. */
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
        // An unchanged token keeps its identity: sending it again would be refused again.
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
        // The 401 is more informative than a source that fails now.
        return false;
      }
    },
  };
}
