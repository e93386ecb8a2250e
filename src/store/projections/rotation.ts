import { isoOf } from '../../base/date.ts';
import { instantOf } from '../../base/instant.ts';
import { currentKey } from './key-epochs.ts';
import { foldLedger, type Ledger } from './ledgers.ts';

/** Whether the key in force has been so for longer than its cryptoperiod (NIST SP 800-57 part 1, 5.3). */
export type Rotation =
  | {
      readonly state: 'in-time' | 'due';
      readonly key: string;
      readonly setAt: string;
      readonly dueAt: string;
    }
  /** `why` is one printable line. */
  | { readonly state: 'unknown'; readonly why: string };

/** By the instance's ledger. `period` in milliseconds. Pure. */
export function rotationOf({ epochs, custody }: Ledger, period: number, nowMs: number): Rotation {
  const key = currentKey(epochs);
  const setMs = instantOf(key?.setAt);
  if (key?.setAt === undefined || setMs === undefined)
    return { state: 'unknown', why: 'the record does not say since when which key is in force' };
  const foreign = custody?.unknown.find(({ triggeredAt }) => (instantOf(triggeredAt) ?? 0) > setMs);
  if (foreign !== undefined)
    return { state: 'unknown', why: `backup ${foreign.id} is under a key that somebody else has set` };
  const dueMs = setMs + period;
  const state = nowMs >= dueMs ? 'due' : 'in-time';
  return { state, key: key.fingerprint, setAt: key.setAt, dueAt: isoOf(dueMs) };
}

/** For each instance with a cryptoperiod (milliseconds), in the given order. Pure. */
export function rotationsOf(
  instances: Readonly<Record<string, { readonly cryptoperiod?: number | undefined }>>,
  known: readonly (readonly [instance: string, ledger: Ledger])[],
  nowMs: number,
): readonly (Rotation & { readonly instance: string })[] {
  const ledgers = new Map(known);
  return Object.entries(instances).flatMap(([instance, { cryptoperiod }]) =>
    cryptoperiod === undefined
      ? []
      : [{ instance, ...rotationOf(ledgers.get(instance) ?? foldLedger([]), cryptoperiod, nowMs) }],
  );
}
