import type { CheckId } from '../base/check-id.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An answer counts for this time. Milliseconds. */
export interface Period {
  /** After this it is not green any more: it has to be asked again. */
  readonly green: number;
  /** After this it is red: the answer is too old to prove anything. */
  readonly red?: number;
}

/**
 * A check without a row does not age: it is computed from the clock itself, or from the config. Config values
 * replace rows: `drills.every` for `restored` (red after 1.25 of it), `keys.escrow.proof` for `escrow` (red
 * after four thirds of it), and two times `evaluate.every` for `evaluated`.
 */
export const PERIODS: Readonly<Partial<Record<CheckId, Period>>> = {
  reachable: { green: 30 * MINUTE },
  token: { green: 30 * MINUTE },
  manage: { green: 30 * MINUTE },
  store: { green: HOUR },
  calls: { green: HOUR },
  'newest-backup': { green: 30 * MINUTE },
  'proven-backup': { green: 7 * DAY, red: 14 * DAY },
  'key-opens': { green: DAY },
  'key-held': { green: 90 * DAY, red: 120 * DAY },
  escrow: { green: 90 * DAY, red: 120 * DAY },
  'recovery-card': { green: 30 * DAY, red: 60 * DAY },
  pitr: { green: HOUR },
  target: { green: DAY, red: 7 * DAY },
  restored: { green: 90 * DAY, red: 112.5 * DAY },
};

/** For a person's signature of an approval. */
export const SIGNED_PERIOD: Period = { green: 90 * DAY };

/** An instance without an answer for this long is red: three periods of `reachable`. Milliseconds. */
export const SILENT_MS = 90 * MINUTE;

/** After this many periods of `keys.escrow.proof`, a proof does not count. */
export const ESCROW_SHARE = 4 / 3;

/** A drill not done within this many of its periods is a finding. */
export const DRILL_SHARE = 1.25;

/** An evaluation not made within this many of its periods is a finding. */
export const MISSED_EVALUATIONS = 2;

/** The longest time from a backup to its proof. Milliseconds. */
export const PROVEN_LATE_MS = 7 * DAY;
