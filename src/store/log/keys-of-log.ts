import type { KeyObject } from 'node:crypto';
import type { Entry } from '../journal.ts';
import {
  KEY_ANNOUNCED,
  KEY_ENDORSED,
  KeyAnnounced,
  KeyEndorsed,
  LOG_BEGUN,
  LogBegun,
} from './log-entries.ts';
import { parsePublicKeys } from './public-keys.ts';

/** The keys that a log names, and the one of whoever looks at it. */
export interface LogKeys {
  /** The own key, the one that the log began with, and those that were endorsed. */
  readonly believed: readonly KeyObject[];
  /** Those that have only announced themselves, or whose endorsement nobody who is believed has signed. */
  readonly announced: readonly KeyObject[];
}

/**
 * The keys that the entries of `store/log` name. `own` is PEM; entries that cannot be read name none. An
 * endorsement counts below the size `reach`, up to which somebody who is believed has signed the log: behind
 * it anybody may have written one for himself. Pure.
 */
export function keysOfLog(entries: readonly Entry[], own: string | undefined, reach: number): LogKeys {
  const believed = new Map<string, KeyObject>();
  const announced = new Map<string, KeyObject>();
  const add = (keys: Map<string, KeyObject>, pem: string | undefined) => {
    for (const key of parsePublicKeys(pem ?? '')) keys.set(pemOf(key), key);
  };
  add(believed, own);
  for (const { index, type, body } of entries) {
    if (type === LOG_BEGUN) add(believed, LogBegun.safeParse(body).data?.publicKey);
    if (type === KEY_ENDORSED)
      add(index < reach ? believed : announced, KeyEndorsed.safeParse(body).data?.publicKey);
    if (type === KEY_ANNOUNCED) add(announced, KeyAnnounced.safeParse(body).data?.publicKey);
  }
  for (const pem of believed.keys()) announced.delete(pem);
  return { believed: [...believed.values()], announced: [...announced.values()] };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
