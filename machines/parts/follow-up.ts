import * as z from 'zod';
import { instantOf } from '../../src/base/instant.ts';

/** `text` is the operator's reason or proof, or the platform's proof, in one sentence. */
export const Closure = () =>
  z.object({
    how: z.enum(['platform', 'cf', 'command', 'hand', 'run', 'skipped']),
    text: z.string(),
    /** When it was done, by the platform's record, else when it was reported. RFC 3339. */
    at: z.string().optional(),
    /** Ids for an auditor: jobs, bindings, deployments, audit events, backups. */
    evidence: z.record(z.string(), z.json()).default({}),
  });
export type Closure = z.infer<ReturnType<typeof Closure>>;

/**
 * What a change of the service leaves to be done. A run cannot close while a follow-up is open; what outlives
 * a run (a key's retirement) moves to the instance's ledger. Journals and ledgers must stay readable, so a
 * new field is optional.
 */
export const FollowUp = () =>
  z.object({
    /** Unique in its run and stable when the run is replayed: `rebind-orders-api`, `fresh-backup`. */
    id: z.string(),
    kind: z.enum([
      'rebind',
      'service-key',
      'fresh-backup',
      'renew-card',
      'release-updates',
      'retire-key',
      'remove-target',
      'old-binding',
      // Everything open in a run whose journal this version cannot read.
      'unread-run',
    ]),
    /** Its subject, cleaned: the application, the instance, the fingerprint. */
    subject: z.string(),
    /** What to do, one line, lower case, no full stop: `unbind, bind and restage orders-api`. */
    what: z.string(),
    /** The run's operator unless the config says otherwise. */
    owner: z.string().optional(),
    /** RFC 3339, by the clock of the machine or service that found it. */
    since: z.string().optional(),
    /** From `since`, if the objectives or the retention set a limit. Seconds. */
    dueSeconds: z.number().optional(),
    /** Exact commands to copy, in order; secrets are shell variables in them. */
    commands: z.array(z.string()).default([]),
    /**
     * How it can be done from here. `command`: by the team's own command; `again`: that command was begun
     * before, so it runs again only if a person says so.
     */
    doable: z.enum(['platform', 'cf', 'command', 'again', 'run']).optional(),
    closed: Closure().optional(),
  });
export type FollowUp = z.infer<ReturnType<typeof FollowUp>>;

/** Times are RFC 3339, durations seconds. */
export interface Promised {
  /** When the incident began; without it, when the run began. */
  readonly from: string | undefined;
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
}

/** Seconds. */
const A_DAY = 86_400;

/**
 * Applications and keys must work again within the recovery time, and the restored data must be backed up
 * within the recovery point; later follow-ups have a day. An existing deadline stays, and nothing is due
 * without a start.
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
