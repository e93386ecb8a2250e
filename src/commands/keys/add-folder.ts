import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { warnOfKey } from '../../cli/warn-of-key.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { KeyBundle } from '../../keys/key-store.ts';
import { assertSameName } from '../../runner/one-name.ts';
import { printStored } from './move-keys.ts';
import { nameOnRecord, putOnRecord } from './put-on-record.ts';

const ENDING = '.key';

const MAX_LISTED = 10;

/**
 * `lifeboat keys add --folder DIR`: stores the key of each file `INSTANCE.key`, all or none, in one opening
 * of the key store. A file of no instance stops it before. If the process dies between store and record, the
 * same command again records the rest.
 */
export async function addFolder(
  context: CommandContext,
  config: LoadedConfig,
  folder: string,
  note: string | undefined,
): Promise<number> {
  const named = await keyFilesIn(folder, Object.keys(config.instances));
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const keys: KeyBundle['keys'][number][] = [];
    for (const instance of named) {
      const { url } = instanceNamed(config, instance);
      await assertSameName(workspace.journal, { instance, url });
      const key = await readSecretFile(join(folder, `${instance}${ENDING}`), context);
      workspace.journal.guard(key);
      await warnOfKey(context, key, { isNew: false });
      const fingerprint =
        (await nameOnRecord(workspace, instance, key)) ?? (await workspace.keyring.fingerprint(key));
      keys.push({ instance, key, fingerprint });
    }
    const bundle = { keys, fingerprintSecrets: [] };
    const { added } = await workspace.keyring.takeBundle(bundle);
    const late: string[] = [];
    for (const { key: secret, ...one } of keys)
      if (!(await putOnRecord(context, config, workspace, { ...one, secret, note }))) late.push(one.instance);
    await printStored(context, workspace.keyring, bundle, added);
    if (late.length > 0)
      context.stderr.write(
        `not on record yet: a run holds the ledger of ${late.slice(0, MAX_LISTED).join(', ')}; run the same command again when it has ended\n`,
      );
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
}

/** The instances of the files in a folder. Rejects with `keys.folder` (exit 2), before anything is stored. */
async function keyFilesIn(folder: string, instances: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw refused(`${show(folder, 300)} cannot be read: ${whyUnread(cause)}`, []);
  });
  const named = names.flatMap((name) => (name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []));
  if (named.length === 0)
    throw refused(`${show(folder, 300)} has no file INSTANCE${ENDING}`, [
      'name each file after its instance, such as orders.key',
    ]);
  const unknown = named.filter((name) => !instances.includes(name));
  const [first] = unknown;
  if (first !== undefined)
    throw refused(
      `${counted(unknown.length, 'file')} of no instance in lifeboat.yaml: ${unknown
        .slice(0, MAX_LISTED)
        .map((name) => show(`${name}${ENDING}`, 80))
        .join(', ')}`,
      mostSimilar(first, instances),
    );
  return named.toSorted();
}

function refused(why: string, hints: readonly string[]): LifeboatError {
  return new LifeboatError('keys.folder', why, {
    hints: [...hints, 'nothing was stored'],
    exitCode: EXIT.usage,
  });
}
