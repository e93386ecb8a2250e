import { createPublicKey } from 'node:crypto';
import type { Entry } from '../../store/journal.ts';
import { installationOf } from '../../store/log/checkpoint.ts';
import {
  KEY_ANNOUNCED,
  KEY_ENDORSED,
  KeyAnnounced,
  KeyEndorsed,
  LOG_BEGUN,
  LogBegun,
} from '../../store/log/log-entries.ts';

/** A key store that signs, or once signed, for this store. */
export interface Installation {
  /** 16 hex digits that follow from its key. */
  readonly installation: string;
  /** PEM. */
  readonly publicKey: string;
  /** `first`: its key began the log; `endorsed`: somebody vouched for it; `announced`: nobody has yet, so what it signs is not believed. */
  readonly state: 'first' | 'endorsed' | 'announced';
  readonly by: string;
  readonly at: string;
  /** Why it was endorsed. */
  readonly reason?: string;
}

/** The installations that the entries of `store/log` name, in order of their first entry. Pure; what cannot be read names none. */
export function installationsIn(entries: readonly Entry[]): readonly Installation[] {
  const found = new Map<string, Installation>();
  for (const { type, body, by, at } of entries) {
    const begun = type === LOG_BEGUN ? LogBegun.safeParse(body).data : undefined;
    const announced = type === KEY_ANNOUNCED ? KeyAnnounced.safeParse(body).data : undefined;
    const endorsed = type === KEY_ENDORSED ? KeyEndorsed.safeParse(body).data : undefined;
    const publicKey = (begun ?? announced ?? endorsed)?.publicKey ?? '';
    const installation = nameOf(publicKey);
    if (installation === undefined) continue;
    const known = found.get(installation) ?? { installation, publicKey, state: 'announced' as const, by, at };
    found.set(installation, {
      ...known,
      ...(begun === undefined ? {} : { state: 'first' as const }),
      ...(endorsed === undefined ? {} : { state: 'endorsed' as const, reason: endorsed.reason }),
    });
  }
  return [...found.values()];
}

function nameOf(publicKey: string): string | undefined {
  try {
    return installationOf(createPublicKey(publicKey));
  } catch {
    return undefined;
  }
}
