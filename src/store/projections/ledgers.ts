import * as z from 'zod';
import { type ProvenBackup, RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { lazily } from '../../base/lazily.ts';
import type { Entry, JournalReader, Json, ProjectedRow } from '../journal.ts';
import { type Custody, isCustodyType, NO_CUSTODY, nextCustody } from './custody.ts';
import { idIn, instanceOf, retiredBy } from './follow-ups.ts';
import { isKeyEntryType, type KeyEpoch, type KeyFact, nextEpochs, readKeyFact } from './key-epochs.ts';
import type { FoldedRow, Projection } from './projection.ts';

/** An instance's keys, and facts for a recovery without the instance. */
export interface Ledger {
  readonly epochs: readonly KeyEpoch[];
  readonly card?: RecoveryCard;
  /** Opened with a key, newest proof first; at most 50. */
  readonly proven: readonly ProvenBackup[];
  /** With a failed newest attempt to open, newest first; at most 50. Missing if there is none. */
  readonly unopened?: readonly UnopenedBackup[];
  /** Fingerprints of keys whose retirement was opened since they were last in force. */
  readonly retiring: readonly string[];
  /** Sealed copies, keys set by others, keys retired or destroyed. Missing if there is none. */
  readonly custody?: Custody;
  /** The ledger's length at the newest of these facts. */
  readonly seq: number;
}

/** Downloaded, and could not be proven. */
export interface UnopenedBackup {
  readonly id: number;
  readonly backupId?: string;
  /** RFC 3339, by the clock that stamps the journal. */
  readonly at: string;
  /** `backup.wrong-key`, `backup.empty`, `backup.corrupt` and the like. */
  readonly code: string;
  /** Fingerprints. */
  readonly tried: readonly string[];
}

export type LedgerFacts = Pick<Entry, 'type' | 'body' | 'at' | 'seq'> & Partial<Pick<Entry, 'by'>>;

/** Of ledgers that know a key or a recovery card; the group is `keys` if one names a key. */
export const ledgers: Projection = {
  name: 'ledgers',
  version: 2,
  keysOf: (entry) => {
    const instance = instanceOf(entry);
    return instance !== undefined && isFact(entry) ? [keyOf(instance)] : [];
  },
  fold: (row, entry) => {
    const before = (row?.value ?? EMPTY) as unknown as Ledger;
    const after = nextLedger(before, [entry]);
    return after === before ? row : rowOf(after, entry);
  },
};

const EMPTY: Ledger = { epochs: [], proven: [], retiring: [], seq: 0 };
/** Enough to choose from, and small enough to be journalled. */
const MAX = 50;

/** Empty if the instance has no ledger. */
export async function readLedger(journal: Pick<JournalReader, 'rows'>, instance: string): Promise<Ledger> {
  const [row] = await journal.rows(ledgers.name, { keyPrefix: keyOf(instance) });
  return ledgerIn(row);
}

/** Of every ledger, or of those of these instances. */
export async function readLedgers(
  journal: Pick<JournalReader, 'rows'>,
  instances?: readonly string[],
): Promise<readonly (readonly [instance: string, ledger: Ledger])[]> {
  const rows = await journal.rows(
    ledgers.name,
    instances === undefined ? {} : { keys: instances.map(keyOf) },
  );
  return rows.map((row) => [row.key.slice(0, -1), ledgerIn(row)]);
}

export async function namesKeys(journal: Pick<JournalReader, 'rows'>): Promise<boolean> {
  return (await journal.rows(ledgers.name, { group: 'keys', limit: 1 })).length > 0;
}

/** Oldest first. Pure. */
export function foldLedger(entries: readonly LedgerFacts[]): Ledger {
  return nextLedger(EMPTY, entries);
}

/** The same object if no entry concerns it. Pure. */
export function nextLedger(before: Ledger, entries: readonly LedgerFacts[]): Ledger {
  return entries.reduce((ledger, entry) => (isFact(entry) ? after(ledger, entry) : ledger), before);
}

function isFact(entry: Pick<Entry, 'type' | 'body'>): boolean {
  return (
    isKeyEntryType(entry.type) ||
    isCustodyType(entry.type) ||
    entry.type === 'card.prepared' ||
    entry.type === OPENED ||
    entry.type === UNOPENED
  );
}

const OPENED = 'follow-up.opened';
/** A backup was read and could not be proven. */
export const UNOPENED = 'backup.unopened';

function after(before: Ledger, entry: LedgerFacts): Ledger {
  const known = { ...before, seq: entry.seq };
  if (entry.type === 'card.prepared') {
    // An unreadable card entry of another version does not hide the one before it.
    const read = prepared().safeParse(entry.body);
    return read.success ? { ...known, card: read.data.card } : before;
  }
  if (entry.type === OPENED) {
    const retired = retiredBy(idIn(entry));
    return retired === undefined
      ? before
      : { ...known, retiring: [...less(before.retiring, retired), retired] };
  }
  if (isCustodyType(entry.type)) {
    const custody = nextCustody(before.custody ?? NO_CUSTODY, entry);
    return custody === (before.custody ?? NO_CUSTODY) ? before : { ...known, custody };
  }
  if (entry.type === UNOPENED) return withUnopened(known, entry) ?? before;
  const fact = readKeyFact(entry);
  if (fact === undefined) return before;
  const { fingerprint } = fact.body;
  return {
    ...withoutOpened(known, fact),
    epochs: nextEpochs(before.epochs, [entry]),
    proven: provenAfter(before.proven, entry),
    retiring: entry.type === 'key.set' ? less(before.retiring, fingerprint) : before.retiring,
  };
}

/** Undefined if the entry names no backup. */
function withUnopened(ledger: Ledger, entry: LedgerFacts): Ledger | undefined {
  const read = unopened().safeParse(entry.body);
  if (!read.success) return undefined;
  const { backup, code, tried } = read.data;
  const one: UnopenedBackup = {
    id: backup.id,
    ...(backup.backup_id === undefined ? {} : { backupId: backup.backup_id }),
    ...{ at: entry.at, code, tried },
  };
  const others = (ledger.unopened ?? []).filter((other) => nameOf(other) !== nameOf(one));
  return { ...ledger, unopened: [one, ...others].slice(0, MAX) };
}

/** A backup that was opened leaves the list of those that could not be. */
function withoutOpened(ledger: Ledger, fact: KeyFact): Ledger {
  if (fact.type !== 'key.proven' || ledger.unopened === undefined) return ledger;
  const { id, backup_id: backupId } = fact.body.backup;
  const left = ledger.unopened.filter(
    (one) => one.id !== id && (one.backupId === undefined || one.backupId !== backupId),
  );
  return { ...ledger, unopened: left };
}

const unopened = lazily(() =>
  z.object({
    backup: z.object({ id: z.int(), backup_id: z.string().optional() }),
    code: z.string(),
    tried: z.array(z.string()).default([]),
  }),
);
const prepared = lazily(() => z.object({ card: RecoveryCard() }));
const triggered = lazily(() => z.object({ backup: z.object({ triggered_at: z.string().optional() }) }));

/** By its newest proof. A backup of which only the first block was tried is not proven. */
function provenAfter(before: readonly ProvenBackup[], entry: LedgerFacts): readonly ProvenBackup[] {
  const fact = readKeyFact(entry);
  if (fact?.type !== 'key.proven' || fact.body.verdict === 'fits') return before;
  const { fingerprint, backup } = fact.body;
  const triggeredAt = triggered().safeParse(entry.body).data?.backup.triggered_at;
  const proven: ProvenBackup = {
    id: backup.id,
    ...(backup.backup_id === undefined ? {} : { backupId: backup.backup_id }),
    ...(triggeredAt === undefined ? {} : { triggeredAt }),
    provenAt: entry.at,
    fingerprint,
    ...(fact.body.contentBytes === undefined ? {} : { contentBytes: fact.body.contentBytes }),
  };
  const others = before.filter((one) => nameOf(one) !== nameOf(proven));
  return [proven, ...others].slice(0, MAX);
}

function nameOf({ id, backupId }: Pick<ProvenBackup, 'id' | 'backupId'>): string {
  return backupId ?? String(id);
}

function less(fingerprints: readonly string[], one: string): readonly string[] {
  return fingerprints.filter((fingerprint) => fingerprint !== one);
}

function rowOf(ledger: Ledger, { stream }: Entry): FoldedRow {
  const group = ledger.epochs.length > 0 ? 'keys' : 'none';
  return { group, sort: stream, value: ledger as unknown as Json };
}

/** Instance names contain no slash: no key is a prefix of another. */
function keyOf(instance: string): string {
  return `${instance}/`;
}

function ledgerIn(row: ProjectedRow | undefined): Ledger {
  return (row?.value ?? EMPTY) as unknown as Ledger;
}
