import { failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { recallBackups } from '../../compose/last-seen.ts';
import { openInstance } from '../../compose/service-of.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { ServiceClient } from '../../service/client.ts';
import { unreadWords } from '../../service/rows.ts';
import { foldLedger, type Ledger, readLedger } from '../../store/projections/ledgers.ts';
import { type BackupList, backupRows, type Listed } from '../../view/app/backup-list.ts';
import { keptKeyring } from './load-keys.ts';

/**
 * All backups of an instance, with what the journal and the key store know of each. If the service does not
 * answer, those that the journal knows or that the service listed last, and the reason.
 */
export async function loadBackups(
  context: CommandContext,
  config: LoadedConfig,
  name: string,
  signal: AbortSignal,
): Promise<BackupList> {
  const keyring = () => keptKeyring(context);
  const ledger = await ledgerOf(context, name);
  const held = await heldOf(ledger, name, keyring);
  const asked = await ask(config, name, keyring, signal);
  const { listed, skewMs = 0, ...rest } = asked;
  const seen = listed === undefined ? (await recallBackups(context, config)(name))?.backups : undefined;
  return { ...rest, rows: backupRows({ listed, seen, ledger, held, skewMs, now: new Date() }) };
}

async function ledgerOf(context: CommandContext, name: string): Promise<Ledger> {
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return foldLedger([]);
  try {
    return await readLedger(journal, name);
  } finally {
    await journal.close();
  }
}

/** Never asks for a passphrase if no key is known; a store that fails to open does not block the list. */
async function heldOf(
  { epochs }: Ledger,
  name: string,
  keyring: () => Promise<Keyring>,
): Promise<readonly string[] | undefined> {
  if (epochs.length === 0) return undefined;
  return keyring().then(
    (store) => store.list(name),
    () => undefined,
  );
}

type Asked = Pick<BackupList, 'window' | 'noWindow' | 'problem' | 'unread'> & {
  readonly listed: readonly Listed[] | undefined;
  readonly skewMs?: number | undefined;
};

async function ask(
  config: LoadedConfig,
  name: string,
  keyring: () => Promise<Keyring>,
  signal: AbortSignal,
): Promise<Asked> {
  try {
    await using instance = await openInstance(config, name, {
      store: async () => (await keyring()).store,
    });
    const { service } = instance;
    const [{ value, skew, unread }, window] = await Promise.all([
      service.backups(signal),
      rangeOf(name, service, signal),
    ]);
    const listed = value.map(
      ({ id, backup_id, status, size, triggered_at, started_at, finished_at }): Listed => ({
        id,
        backupId: backup_id,
        status,
        size,
        triggeredAt: triggered_at ?? started_at ?? finished_at,
      }),
    );
    return { listed, skewMs: skew?.skewMs, unread: unreadWords('backup', unread), ...window };
  } catch (thrown) {
    const problem = show(failureOf(thrown).shortMessage);
    return { listed: undefined, problem, noWindow: problem };
  }
}

async function rangeOf(
  name: string,
  service: ServiceClient,
  signal: AbortSignal,
): Promise<Pick<BackupList, 'window' | 'noWindow'>> {
  const { pitrRange } = await import('../../activities/pitr-range.ts');
  const now = () => new Date();
  // The same look as in a run, so that a run accepts every moment that can be chosen here.
  const read = await pitrRange({ service }).run(
    {},
    { runId: 'look', instance: name, signal, now, report: () => undefined },
  );
  if (!read.ok) return { noWindow: show(read.failure.shortMessage) };
  const { earliest, latest } = read.output;
  return { window: { earliest, latest } };
}
