import { instantOf } from '../../src/base/instant.ts';
import type { Obligation } from './obligation.ts';

/** What a run was begun with that sets limits. Times are RFC 3339, durations seconds. */
export interface Promised {
  /** When the incident began, or the run where nobody said so. */
  readonly from: string | undefined;
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
}

/** What nobody set a limit for is still not owed for ever. */
const A_DAY = 86_400;

/**
 * Obligations with their deadlines: applications and keys have to work again within the recovery time, the
 * restored data has to be backed up within the recovery point; what follows has a day. A deadline that is
 * there already stays, and nothing is due that has no beginning.
 */
export function withDeadlines(obligations: readonly Obligation[], promised: Promised): readonly Obligation[] {
  return obligations.map((obligation) => {
    const dueSeconds = obligation.dueSeconds ?? limitOf(obligation, promised);
    return dueSeconds === undefined ? obligation : { ...obligation, dueSeconds };
  });
}

function limitOf(
  { kind, since }: Obligation,
  { from, rtoSeconds, rpoSeconds }: Promised,
): number | undefined {
  switch (kind) {
    case 'rebind':
    case 'service-key': {
      const [began, owed] = [instantOf(from), instantOf(since)];
      if (rtoSeconds === undefined || began === undefined || owed === undefined) return undefined;
      return rtoSeconds - (owed - began) / 1000;
    }
    case 'fresh-backup':
      return rpoSeconds;
    case 'release-updates':
    case 'renew-card':
    case 'remove-target':
    case 'old-binding':
    case 'unread-run':
      return A_DAY;
    case 'retire-key':
      return undefined;
    default:
      return kind satisfies never;
  }
}
