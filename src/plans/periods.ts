import type { CheckId } from '../base/check-id.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long the answer to a check counts. Milliseconds. */
export interface Period {
  /** After this it is not green any more: it has to be asked again. */
  readonly green: number;
  /** After this it is red: nobody asked for so long that the answer proves nothing. */
  readonly red?: number;
}

/**
 * How long each answer counts. A check without a row does not age: it is computed from the clock itself, or
 * from the config. What the config sets itself takes the place of a row: `drills.every` for `restored` (red
 * after 1.25 of it), `keys.escrow.proof` for `escrow` (red after four thirds of it), and two times
 * `evaluate.every` for `evaluated`.
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

/** How long it counts that a person has signed an approval. */
export const SIGNED_PERIOD: Period = { green: 90 * DAY };

/** An instance that fails to answer for this long is red: three periods of `reachable`. Milliseconds. */
export const SILENT_MS = 90 * MINUTE;

/** After this many periods of `keys.escrow.proof`, a proof counts for nothing. */
export const ESCROW_SHARE = 4 / 3;

/** A drill that is not done by this many of its periods is a finding. */
export const DRILL_SHARE = 1.25;

/** An evaluation that is not made for this many of its periods is a finding. */
export const MISSED_EVALUATIONS = 2;

/** The longest that the data of a backup may be older than its proof. Milliseconds. */
export const PROVEN_LATE_MS = 7 * DAY;
