import * as z from 'zod';
import { instantOf } from '../../src/base/instant.ts';
import { counted } from '../../src/base/quantity.ts';

/**
 * How a follow-up was done, or why it was skipped. `text` is the operator's words or the platform's proof in
 * one sentence.
 */
export const Closure = z.object({
  how: z.enum(['platform', 'cf', 'hand', 'run', 'skipped']),
  text: z.string(),
  /**
   * When the thing was done, as far as it is known: by the platform's own record, else when it was said. RFC
   * 3339.
   */
  at: z.string().optional(),
  /** Ids for an auditor: jobs, bindings, deployments, audit events, backups. */
  evidence: z.record(z.string(), z.json()).default({}),
});
export type Closure = z.infer<typeof Closure>;

/**
 * What a change of the service leaves to be done. A run cannot close while a follow-up is open; what outlives
 * a run (a key's retirement) is handed to the instance's ledger. It is data, because it is journalled and
 * shown, and because it must survive the process.
 */
export const FollowUp = z.object({
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
    // Everything that is open in a run whose journal this version cannot read.
    'unread-run',
  ]),
  /** What it is about, cleaned: the application, the instance, the fingerprint. */
  subject: z.string(),
  /** What has to be done, one line, lower case, no stop: `unbind, bind and restage orders-api`. */
  what: z.string(),
  /** Who has to see to it; the run's operator unless the config says otherwise. */
  owner: z.string().optional(),
  /** Since when it is open. RFC 3339, by the clock of whoever found it. */
  since: z.string().optional(),
  /** From `since`, when the objectives or the retention set a limit. Seconds. */
  dueSeconds: z.number().optional(),
  /** Exact commands to copy, in order; secrets are shell variables in them. */
  commands: z.array(z.string()).default([]),
  /** Which ways there are to have it done from here, besides by hand. */
  doable: z.enum(['platform', 'cf', 'run']).optional(),
  closed: Closure.optional(),
});
export type FollowUp = z.infer<typeof FollowUp>;

/** What is still to be done: neither done nor skipped. */
export function stillOpen<One extends { readonly closed?: unknown }>(
  followUps: readonly One[],
): readonly One[] {
  return followUps.filter(({ closed }) => closed === undefined);
}

/**
 * The part of a follow-up that shows whether something runs on the data; those of old journals count as well.
 */
interface Running {
  readonly id: string;
  readonly kind: string;
  readonly closed?: { readonly how: string } | undefined;
}

/**
 * What nobody bound to the restored data, and nobody will: the applications and service keys that were
 * skipped.
 */
export function leftUnbound<Item extends Running>(followUps: readonly Item[]): readonly Item[] {
  return followUps.filter(
    ({ kind, closed }) => (kind === 'rebind' || kind === 'service-key') && closed?.how === 'skipped',
  );
}

/**
 * `2 applications were not bound again, 1 service key was not recreated`. What stands for applications that
 * nobody could see is not counted.
 */
export function unboundWords(unbound: readonly Running[]): string {
  const keys = unbound.filter(({ kind }) => kind === 'service-key').length;
  const unseen = unbound.filter(({ id }) => UNSEEN.test(id)).length;
  return [
    ...undone(unbound.length - keys - unseen, 'application', 'not bound again'),
    ...(unseen === 0 ? [] : ['applications that cannot be seen from here were not bound again']),
    ...undone(keys, 'service key', 'not recreated'),
  ].join(', ');
}

const UNSEEN = /^rebind-(?:unknown$|unseen-)/;

function undone(count: number, what: string, not: string): string[] {
  return count === 0 ? [] : [counted(count, `${what} was ${not}`, `${what}s were ${not}`)];
}

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
