import { z } from 'zod';
import { type CardOnRecord, type ProvenBackup, RecoveryCard } from '../../machines/parts/recovery-verbs.ts';
import { readKeyFact } from '../keys/epochs.ts';
import type { Entry } from '../store/journal.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, ok } from './results.ts';

/** So many are enough to choose from, and little enough to be journalled. */
const MOST = 50;

/**
 * What the instance's ledger and the key store know for a recovery without the instance: the newest card, the backups that were opened
 * with a key, newest first, and the keys at hand. Nothing of the service is called: it may be gone.
 */
export function readCard(deps: ActivityDeps): ReadActivity<object, CardOnRecord> {
  return {
    kind: 'read',
    async run() {
      try {
        // A keychain that is locked answers like one that is empty.
        await deps.keyring.store.probe();
        const keysHeld = [...(await deps.keyring.list(deps.name))];
        return ok({ ...recordOf(await deps.ledger()), keysHeld });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

/** What a ledger holds for a recovery: the newest card, and the backups that were opened with a key, newest first. Pure. */
export function recordOf(entries: readonly Entry[]): Pick<CardOnRecord, 'card' | 'proven'> {
  const card = newestCard(entries);
  return { ...(card === undefined ? {} : { card }), proven: provenBackups(entries) };
}

/** An entry that is no card any more (another version wrote it) does not hide the one before it. */
function newestCard(entries: readonly Entry[]): RecoveryCard | undefined {
  for (const { type, body } of entries.toReversed()) {
    if (type !== 'card.prepared') continue;
    const read = z.object({ card: RecoveryCard }).safeParse(body);
    if (read.success) return read.data.card;
  }
  return undefined;
}

const Triggered = z.object({ backup: z.object({ triggered_at: z.string().optional() }) });

/** Each backup once, by its newest proof. One of which only the first block was tried is not proven. */
function provenBackups(entries: readonly Entry[]): ProvenBackup[] {
  const found = new Map<string, ProvenBackup>();
  for (const entry of entries.toReversed()) {
    const fact = readKeyFact(entry);
    if (fact?.type !== 'key.proven' || fact.body.verdict === 'fits') continue;
    const { fingerprint, backup } = fact.body;
    const name = backup.backup_id ?? String(backup.id);
    if (found.has(name)) continue;
    const triggeredAt = Triggered.safeParse(entry.body).data?.backup.triggered_at;
    found.set(name, {
      id: backup.id,
      ...(backup.backup_id === undefined ? {} : { backupId: backup.backup_id }),
      ...(triggeredAt === undefined ? {} : { triggeredAt }),
      provenAt: entry.at,
      fingerprint,
    });
  }
  return [...found.values()].slice(0, MOST);
}
