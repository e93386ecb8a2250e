import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { formatTime } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { disableEcho } from '../../cli/echo.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { warnOfKey } from '../../cli/warn-of-key.ts';
import { adoptKey } from '../../compose/adopt-key.ts';
import { recallBackups } from '../../compose/last-seen.ts';
import { tokenAccount } from '../../compose/service-of.ts';
import { openKeys, openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { assertSameName } from '../../runner/one-name.ts';
import { Fingerprint } from '../../store/projections/key-epochs.ts';
import { type ListedKey, listKeys } from './key-rows.ts';
import { nameOnRecord, putOnRecord } from './put-on-record.ts';

/**
 * `lifeboat keys list [INSTANCE]`: lists keys by fingerprint, held or known only to the ledger. If the
 * journal cannot be read, lists what is held, says so, and ends with exit 1.
 */
export const keysList: Action<{ readonly instance?: string }> = async (context, _, { instance: only }) => {
  const config = await loadConfig(context.env, context.configPath);
  if (only !== undefined) instanceNamed(config, only);
  const keyring = await openKeys(context, 'look');
  const names = only === undefined ? Object.keys(config.instances) : [only];
  const found = await listKeys(context, keyring, names, { recall: recallBackups(context, config) });
  const { items, unread, unknown } = found;
  const keptIn = keyring.store.description;
  await printResult(context, 'keys', { keptIn, unread: unread?.shortMessage, items, unknown }, () => {
    printKeys(context, items, unread);
    for (const { instance, backups } of unknown)
      context.stderr.write(
        `${instance}: no held key opens ${backups.length === 1 ? 'backup' : 'backups'} ${backups.join(', ')}: somebody else has set a key\n`,
      );
    context.stderr.write(`kept in: ${keptIn}\n${WITHIN}\n`);
  });
  return unread === undefined ? EXIT.closed : EXIT.failed;
};

const WITHIN =
  'fingerprints are made with a secret of this key store: compare them within it only (lifeboat keys --help)';

function printKeys(context: CommandContext, rows: readonly ListedKey[], unread: Failure | undefined): void {
  if (unread !== undefined) {
    context.stderr.write(`warning: ${show(unread.shortMessage, 300)}\n`);
    context.stderr.write('only keys that are held are listed: which of them is in force is not known\n');
  }
  if (rows.length === 0) {
    const record = unread === undefined ? 'none is on record' : 'the record cannot be read';
    context.stderr.write(`no keys are held, and ${record}\n`);
    return;
  }
  const columns = [
    { title: 'instance', gives: true },
    { title: 'key' },
    { title: 'held' },
    { title: 'state' },
    { title: 'custody' },
    { title: 'backups', align: 'right' as const },
    { title: 'escrow', align: 'right' as const },
    { title: 'set (UTC)', drops: true },
    { title: 'ended (UTC)', drops: true },
    { title: 'proven (UTC)' },
  ];
  const cells = rows.map((row) => [
    row.instance,
    row.fingerprint,
    row.held ? 'yes' : 'NO',
    row.state,
    row.custody,
    String(row.backups),
    row.openers === 0 ? 'NO' : String(row.openers),
    row.setAt === undefined ? '-' : formatTime(row.setAt),
    row.endedAt === undefined ? '-' : formatTime(row.endedAt),
    row.provenAt === undefined ? '-' : formatTime(row.provenAt),
  ]);
  printTable(context, columns, cells);
}

interface AddFlags {
  readonly instance?: string;
  readonly file?: string;
  readonly note?: string;
  readonly as?: string;
  readonly token?: boolean;
  readonly check?: boolean;
  readonly folder?: string;
}

/**
 * `lifeboat keys add INSTANCE`: stores a key, from a file or typed twice; with `--token` the access token
 * instead; with `--check` stores nothing, and ends with exit 1 when the key is not held. `--as` keeps the key
 * under the fingerprint that a team's record knows, which another key store gave it.
 */
export const keysAdd: Action<AddFlags> = async (context, _, flags) => {
  const config = await loadConfig(context.env, context.configPath);
  if (flags.folder !== undefined && flags.instance !== undefined)
    throw new LifeboatError('usage.option', '--folder names its instances by its files: give no instance', {
      hints: ['nothing was stored'],
      exitCode: EXIT.usage,
    });
  if (flags.folder !== undefined)
    return (await import('./add-folder.ts')).addFolder(context, config, flags.folder, flags.note);
  const instance = chosenInstance(config, flags.instance);
  if (flags.file === undefined && context.stdin.isTTY !== true) {
    throw new LifeboatError('input.none', 'there is no terminal to enter a key on', {
      hints: ['name a file with --file FILE, or use --file - for standard input'],
      exitCode: EXIT.usage,
    });
  }
  // The app's own screen does not echo what is typed.
  if (flags.file !== undefined || context.screen !== undefined)
    return addKey(context, config, instance, flags);
  // Keep echo off: a key pasted while the key store opens must never be shown, not even once it is open.
  const restoreEcho = disableEcho(context.stdin);
  try {
    return await addKey({ ...context, restoreEcho: undefined }, config, instance, flags);
  } finally {
    restoreEcho();
    context.restoreEcho?.();
  }
};

async function addKey(
  context: CommandContext,
  config: LoadedConfig,
  instance: string,
  flags: AddFlags,
): Promise<number> {
  if (flags.check === true) return keyCheck(context, instance, flags.file);
  const what = flags.token ? 'access token' : 'key';
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const { url } = instanceNamed(config, instance);
    // Check before storing anything under a name that no ledger has.
    if (flags.token !== true) await assertSameName(workspace.journal, { instance, url });
    const secret =
      flags.file === undefined
        ? await askHidden(`${what} of ${instance}`, context, { twice: flags.token !== true })
        : await readSecretFile(flags.file, context);
    workspace.journal.guard(secret);
    if (flags.token !== true) await warnOfKey(context, secret, { isNew: false });
    const keptIn = workspace.keyring.store.description;
    if (flags.token) {
      await workspace.keyring.store.exchange(tokenAccount(instance), secret);
      const stored = { instance, kind: 'token', held: true, stored: true, keptIn } as const;
      await printResult(context, 'key', stored, () => {
        context.stdout.write(`the access token of ${instance} is stored in ${keptIn}\n`);
      });
      return EXIT.closed;
    }
    const isHeld = await holds(workspace.keyring, instance, secret);
    const fingerprint = flags.as ?? (await onRecordName(workspace, instance, secret));
    if (flags.as !== undefined) {
      await adoptKey(workspace, instance, fingerprintFrom(flags.as), secret);
      // A store with keys and without a fingerprint secret looks like one that has lost them.
      await workspace.keyring.fingerprint(secret);
    }
    const { note } = flags;
    const onRecord = await putOnRecord(context, config, workspace, { instance, fingerprint, secret, note });
    const stored = {
      instance,
      kind: 'key',
      fingerprint,
      held: true,
      stored: !isHeld,
      onRecord,
      keptIn,
    } as const;
    await printResult(context, 'key', stored, () => {
      const already = isHeld ? 'was held already: it is' : 'is';
      context.stdout.write(`key ${fingerprint} of ${instance} ${already} stored in ${keptIn}\n`);
    });
    if (!onRecord)
      context.stderr.write(
        `not on record yet: a run holds the ledger of ${instance}; run the same command again when it has ended\n`,
      );
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
}

/** Under the record's fingerprint, perhaps from another key store of the team; else this store's. */
async function onRecordName(
  { journal, keyring }: Workspace,
  instance: string,
  secret: Secret,
): Promise<string> {
  const name = await nameOnRecord({ journal, keyring }, instance, secret);
  if (name === undefined) return await keyring.add(instance, secret);
  await keyring.adopt(instance, name, secret);
  return name;
}

function fingerprintFrom(word: string): string {
  const parsed = Fingerprint.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new LifeboatError('usage.fingerprint', `${show(word, 40)} is not a fingerprint`, {
    hints: ['it has 12 hex digits: `lifeboat keys list` shows those of the record', 'nothing was stored'],
    exitCode: EXIT.usage,
  });
}

/** Checks whether the store has a key, without making or storing anything. */
async function keyCheck(
  context: CommandContext,
  instance: string,
  file: string | undefined,
): Promise<number> {
  const keyring = await openKeys(context, 'look');
  const secret =
    file === undefined ? await askHidden(`key of ${instance}`, context) : await readSecretFile(file, context);
  const keptIn = keyring.store.description;
  const held = await holds(keyring, instance, secret);
  const known = await keyring.list(instance);
  const names = held ? await keyring.namesOf(secret) : [];
  const fingerprint = names.find((name) => known.includes(name)) ?? names[0];
  const looked = { instance, kind: 'key', fingerprint, held, stored: false, keptIn } as const;
  await printResult(context, 'key', looked, () => {
    const words = held ? `is held in ${keptIn}, as ${fingerprint}` : `is not held in ${keptIn}`;
    context.stdout.write(`this key of ${instance} ${words}\n`);
  });
  return held ? EXIT.closed : EXIT.failed;
}

/** Does not ask an empty store for a fingerprint: that would create the secret for it. */
async function holds(keyring: Keyring, instance: string, secret: Secret): Promise<boolean> {
  const held = await keyring.list(instance);
  if (held.length === 0) return false;
  return (await keyring.namesOf(secret)).some((name) => held.includes(name));
}
