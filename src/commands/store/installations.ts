import type { Entry } from '../../store/journal.ts';
import { believedKeys, namedKey, parsePublicKeys } from '../../store/log/named-keys.ts';

/** A key store that signs, or once signed, for this store. */
export interface Installation {
  /** 16 hex digits derived from its key. */
  readonly installation: string;
  /** PEM. */
  readonly publicKey: string;
  /**
   * `first`: its key began the log; `endorsed`: the first one, or one that it endorsed, vouches for it;
   * `announced`: not vouched for yet, so what it signs is not trusted.
   */
  readonly state: 'first' | 'endorsed' | 'announced';
  readonly by: string;
  readonly at: string;
  /** Why it was endorsed. */
  readonly reason?: string;
}

/**
 * The installations that the entries of `store/log` name, in order of their first entry, as `by` sees them: a
 * PEM, or the key that the log began with. Pure; skips what cannot be read.
 */
export function installationsIn(
  entries: readonly Entry[],
  origin: string | undefined,
  by?: string,
): readonly Installation[] {
  const named = entries.flatMap((entry) => {
    const key = namedKey(entry);
    return key === undefined ? [] : [{ ...key, by: entry.by, at: entry.at }];
  });
  const first = named.filter(({ as }) => as === 'first').map(({ key }) => key);
  const believed = believedKeys(by === undefined ? first : parsePublicKeys(by), named, origin);
  return [...Map.groupBy(named, ({ installation }) => installation).values()].flatMap((mentions) => {
    const [one] = mentions;
    if (one === undefined) return [];
    const { key, installation, publicKey } = one;
    const isBelieved = believed.some((known) => known.equals(key));
    const reason = mentions.findLast((other) => other.reason !== undefined)?.reason;
    const isFirst = one.as === 'first' && by === undefined;
    const state = isFirst ? 'first' : isBelieved ? 'endorsed' : 'announced';
    const why = state === 'endorsed' && reason !== undefined ? { reason } : {};
    return [{ installation, publicKey, state, by: one.by, at: one.at, ...why }];
  });
}
