import { instantOf } from '../../src/base/instant.ts';
import type { FollowUp } from './follow-up.ts';

/** What a run was begun with that sets limits. Times are RFC 3339, durations seconds. */
export interface Promised {
  /** When the incident began, or the run where nobody said so. */
  readonly from: string | undefined;
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
}

/** A follow-up that nobody set a limit for is due all the same. Seconds. */
const A_DAY = 86_400;

/**
 * Follow-ups with their deadlines: applications and keys have to work again within the recovery time, the
 * restored data has to be backed up within the recovery point; what follows has a day. A deadline that is
 * there already stays, and nothing is due that has no beginning.
 */
export function withDeadlines(followUps: readonly FollowUp[], promised: Promised): readonly FollowUp[] {
  return followUps.map((followUp) => {
    const dueSeconds = followUp.dueSeconds ?? limitOf(followUp, promised);
    return dueSeconds === undefined ? followUp : { ...followUp, dueSeconds };
  });
}

function limitOf({ kind, since }: FollowUp, { from, rtoSeconds, rpoSeconds }: Promised): number | undefined {
  switch (kind) {
    case 'rebind':
    case 'service-key': {
      const [began, opened] = [instantOf(from), instantOf(since)];
      if (rtoSeconds === undefined || began === undefined || opened === undefined) return undefined;
      return rtoSeconds - (opened - began) / 1000;
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
