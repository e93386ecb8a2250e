import { z } from 'zod';
import { counted } from '../../src/base/quantity.ts';

/**
 * How an obligation was met, or why it is not. `text` is the operator's words or the platform's proof in one
 * sentence.
 */
export const Settlement = z.object({
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
export type Settlement = z.infer<typeof Settlement>;

/**
 * Something owed after a change of the service. A run cannot close while it owes; what outlives a run (a
 * key's retirement) is handed to the instance's ledger. It is data, because it is journalled and shown, and
 * because it must survive the process.
 */
export const Obligation = z.object({
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
    // Whatever a run owes whose journal cannot be read by this version.
    'unread-run',
  ]),
  /** What it is about, cleaned: the application, the instance, the fingerprint. */
  subject: z.string(),
  /** What has to be done, one line, lower case, no stop: `unbind, bind and restage orders-api`. */
  what: z.string(),
  /** Who has to see to it; the run's operator unless the config says otherwise. */
  owner: z.string().optional(),
  /** Since when it is owed. RFC 3339, by the clock of whoever found it. */
  since: z.string().optional(),
  /** From `since`, when the objectives or the retention set a limit. Seconds. */
  dueSeconds: z.number().optional(),
  /** Exact commands to copy, in order; secrets are shell variables in them. */
  commands: z.array(z.string()).default([]),
  /** Which ways there are to have it done from here, besides by hand. */
  payable: z.enum(['platform', 'cf', 'run']).optional(),
  settled: Settlement.optional(),
});
export type Obligation = z.infer<typeof Obligation>;

/** What is still to be done. */
export function stillOwed(obligations: readonly Obligation[]): readonly Obligation[] {
  return obligations.filter(({ settled }) => settled === undefined);
}

/**
 * An obligation as far as it tells whether something runs on the data; those of old journals count as well.
 */
interface Running {
  readonly id: string;
  readonly kind: string;
  readonly settled?: { readonly how: string } | undefined;
}

/**
 * What nobody bound to the restored data, and nobody will: the applications and service keys that were
 * skipped.
 */
export function leftUnbound<Owed extends Running>(obligations: readonly Owed[]): readonly Owed[] {
  return obligations.filter(
    ({ kind, settled }) => (kind === 'rebind' || kind === 'service-key') && settled?.how === 'skipped',
  );
}

/**
 * `2 applications were not bound again, 1 service key was not made anew`. What stands for applications that
 * nobody could see is not counted.
 */
export function unboundWords(unbound: readonly Running[]): string {
  const keys = unbound.filter(({ kind }) => kind === 'service-key').length;
  const unseen = unbound.filter(({ id }) => UNSEEN.test(id)).length;
  return [
    ...undone(unbound.length - keys - unseen, 'application', 'not bound again'),
    ...(unseen === 0 ? [] : ['applications that cannot be seen from here were not bound again']),
    ...undone(keys, 'service key', 'not made anew'),
  ].join(', ');
}

const UNSEEN = /^rebind-(?:unknown$|unseen-)/;

function undone(count: number, what: string, not: string): string[] {
  return count === 0 ? [] : [counted(count, `${what} was ${not}`, `${what}s were ${not}`)];
}
