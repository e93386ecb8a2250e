import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { candidates } from '../../store/projections/key-epochs.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import { attempt, type Check, good } from './check.ts';

/**
 * Whether every key that may be in force is held; nothing for an instance whose ledger names none. Only
 * looks.
 */
export async function keysHeld(
  context: CommandContext,
  instances: readonly string[],
  keyring: Keyring,
): Promise<Check[]> {
  const found = await attempt('keys', async () => {
    const journal = await openJournalIfAny(context);
    try {
      const checks: Check[] = [];
      for (const name of instances) {
        const { epochs } = journal === undefined ? { epochs: [] } : await readLedger(journal, name);
        const possible = candidates(epochs).map(({ fingerprint }) => fingerprint);
        if (possible.length > 0) checks.push(checkOf(name, possible, await keyring.list(name)));
      }
      return checks;
    } finally {
      await journal?.close();
    }
  });
  return 'check' in found ? [found.check] : found.value;
}

function checkOf(name: string, possible: readonly string[], held: readonly string[]): Check {
  const what = `${name}: keys`;
  const missing = possible.filter((fingerprint) => !held.includes(fingerprint));
  if (missing.length === 0)
    return good(what, `every key that may be in force is held: ${possible.join(', ')}`);
  return {
    what,
    state: 'bad',
    found: `may be in force and is not held: ${missing.join(', ')}`,
    hints: [
      'its backups cannot be opened: put the key store back from a copy',
      `or store the key again: lifeboat keys add ${name}`,
      'or set a new key, and prove it with a backup: lifeboat run rotate-key',
    ],
  };
}
