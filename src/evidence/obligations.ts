import { z } from 'zod';
import { Obligation, Settlement } from '../../machines/parts/obligation.ts';
import type { Entry } from '../store/journal.ts';

/** An obligation that outlives the run that opened it. */
export type LedgerObligation = Obligation & {
  /** Whose ledger it stands in, by the instance's name in the config. */
  readonly instance: string;
  /** The run that opened it. */
  readonly run?: string | undefined;
};

/** What a fold reads of an entry; several ledgers may come one after the other. */
export type LedgerEntry = Pick<Entry, 'stream' | 'type' | 'body' | 'at'>;

/**
 * What the ledgers of instances say is owed, settled or not, in the order in which it was opened; once more opened, it is owed anew. The
 * retirement of a key that is in force again is settled by that. Total: entries of other types and broken ones are passed over, a broken
 * settlement settles nothing, and an obligation of which only the id can be read is still owed.
 */
export function foldObligations(entries: readonly LedgerEntry[]): readonly LedgerObligation[] {
  const found = new Map<string, LedgerObligation>();
  for (const entry of entries) {
    const instance = /^instance\/(?<name>.+)$/u.exec(entry.stream)?.groups?.['name'];
    if (instance !== undefined) apply(found, instance, entry);
  }
  return [...found.values()];
}

/**
 * The open retirements of keys that no retained backup can need any more, by the retention that was in force when they were opened. That
 * a service keeps a least number of backups longer than that is not in the ledger: look at its oldest backup before a key is destroyed.
 */
export function retirable(obligations: readonly LedgerObligation[], now: Date): readonly LedgerObligation[] {
  return obligations.filter(({ kind, settled, since, dueSeconds }) => {
    if (kind !== 'retire-key' || settled !== undefined || dueSeconds === undefined) return false;
    return Date.parse(since ?? '') + dueSeconds * 1000 <= now.getTime();
  });
}

/** What can be known of one that another version wrote. */
const Rest = z
  .object({ id: z.string(), kind: Obligation.shape.kind.catch('unread-run') })
  .transform(({ id, kind }): Obligation => ({ id, kind, subject: id, what: `see to ${id}`, commands: [] }));
const Opened = z.object({
  obligation: z.union([Obligation, Rest]),
  run: z.string().optional().catch(undefined),
});
const Settled = z.object({ id: z.string(), settlement: Settlement });
const KeySet = z.object({ fingerprint: z.string() });

function apply(
  found: Map<string, LedgerObligation>,
  instance: string,
  { type, body, at }: LedgerEntry,
): void {
  if (type === 'obligation.opened') {
    const { data } = Opened.safeParse(body);
    if (data === undefined) return;
    const { obligation, run } = data;
    const name = nameOf(instance, obligation.id);
    // One that is opened anew is owed since then, and stands where it was opened last.
    found.delete(name);
    found.set(name, { since: at, ...obligation, instance, ...(run === undefined ? {} : { run }) });
  }
  if (type === 'obligation.settled') {
    const { data } = Settled.safeParse(body);
    if (data !== undefined) settle(found, nameOf(instance, data.id), { at, ...data.settlement });
  }
  if (type === 'key.set') {
    const { data } = KeySet.safeParse(body);
    const revived = [...found].filter(
      ([, { instance: whose, kind, subject }]) =>
        whose === instance && kind === 'retire-key' && subject === data?.fingerprint,
    );
    for (const [name] of revived)
      settle(found, name, { how: 'run', text: 'the key is in force again', at, evidence: {} });
  }
}

/** Settled once, by whoever came first. */
function settle(found: Map<string, LedgerObligation>, name: string, settled: Settlement): void {
  const obligation = found.get(name);
  if (obligation === undefined || obligation.settled !== undefined) return;
  found.set(name, { ...obligation, settled });
}

function nameOf(instance: string, id: string): string {
  return JSON.stringify([instance, id]);
}
