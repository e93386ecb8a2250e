import { LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { Journal, NewEntry } from '../../store/journal.ts';
import { readLedger } from '../../store/projections/ledgers.ts';

/** The fingerprint that the record has for a key of an instance; undefined if it does not know the key. */
export async function nameOnRecord(
  { journal, keyring }: Pick<Workspace, 'journal' | 'keyring'>,
  instance: string,
  secret: Secret,
): Promise<string | undefined> {
  const { epochs } = await readLedger(journal, instance);
  return (await keyring.namesOf(secret)).find((one) => epochs.some(({ fingerprint }) => fingerprint === one));
}

interface StoredKey {
  readonly instance: string;
  readonly fingerprint: string;
  readonly secret: Secret;
}

/** With its sealed copy if the config asks for one. False while a run holds the instance's ledger. */
export async function putOnRecord(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  { note, ...key }: StoredKey & { readonly note: string | undefined },
): Promise<boolean> {
  const { instance, fingerprint } = key;
  const body = { fingerprint, ...(note === undefined ? {} : { note }) };
  const added = { stream: `instance/${instance}`, type: 'key.added', body } as const;
  return recorded(workspace.journal, [added, ...(await sealedFor(context, config, workspace, key))]);
}

/** Only if the config asks for one; reports a key that cannot be sealed. */
async function sealedFor(
  { stderr }: CommandContext,
  { keys }: LoadedConfig,
  workspace: Workspace,
  { instance, fingerprint, secret }: StoredKey,
): Promise<readonly NewEntry[]> {
  if (keys.escrow === undefined) return [];
  const { escrowOf } = await import('../../compose/escrow.ts');
  try {
    return [await escrowOf(keys.escrow, workspace).seal(instance, fingerprint, secret, { strict: false })];
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    stderr.write(`warning: the key is stored, and is NOT in escrow: ${show(thrown.shortMessage, 300)}\n`);
    stderr.write(`hint: lifeboat keys escrow update ${instance}\n`);
    return [];
  }
}

/** False while a run holds the ledger: a run that waits for the key must not wait for the record. */
async function recorded(journal: Journal, entries: readonly NewEntry[]): Promise<boolean> {
  try {
    await appendHolding(journal, entries);
    return true;
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.held') return false;
    throw thrown;
  }
}
