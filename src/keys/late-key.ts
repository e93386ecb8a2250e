import type { KeyEpoch } from '../store/projections/key-epochs.ts';

/**
 * Until when a request with another key than `fingerprint` may still arrive, because its answer was lost less
 * than `inFlightMs` ago: it would replace a key that is set meanwhile, and the ledger would believe the wrong
 * one to be in force. Milliseconds since 1970; undefined when there is none at the time `nowMs`. Without a
 * fingerprint any key counts.
 */
export function lateKeyUntil(
  epochs: readonly KeyEpoch[],
  when: { readonly inFlightMs: number; readonly nowMs: number },
  fingerprint?: string,
): number | undefined {
  const ends = epochs.flatMap((epoch) =>
    epoch.lostAt === undefined || epoch.fingerprint === fingerprint
      ? []
      : [Date.parse(epoch.lostAt) + when.inFlightMs],
  );
  const until = Math.max(...ends);
  return until > when.nowMs ? until : undefined;
}
