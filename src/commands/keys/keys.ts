import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { formatTime } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { hush } from '../../cli/hush.ts';
import { printResult } from '../../cli/print-result.ts';
import { printTable } from '../../cli/print-table.ts';
import { readSecretFile } from '../../cli/read-secret-file.ts';
import { adoptKey } from '../../compose/adopt-key.ts';
import { chosenInstance } from '../../compose/chosen-instance.ts';
import { openJournalIfAny } from '../../compose/reading.ts';
import { tokenAccount } from '../../compose/service-of.ts';
import { openKeys, openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import { Fingerprint } from '../../store/projections/key-facts.ts';
import { readLedger } from '../../store/projections/ledgers.ts';

/**
 * `lifeboat keys list [INSTANCE]`: keys by fingerprint, held or only known to the ledger. Where the journal
 * cannot be read it lists what is held, says so, and ends with exit 1.
 */
export async function keysList(
  context: CommandContext,
  _: readonly string[],
  { instance: only }: { readonly instance?: string },
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  if (only !== undefined) instanceNamed(config, only);
  const keyring = await openKeys(context, 'look');
  const names = only === undefined ? Object.keys(config.instances) : [only];
  const record = await epochsOnRecord(context, names);
  const rows = names.map(async (instance) => {
    const held = new Set(await keyring.list(instance));
    const known = new Map((record.epochs.get(instance) ?? []).map((epoch) => [epoch.fingerprint, epoch]));
    return [...new Set([...known.keys(), ...held])].map((fingerprint) => {
      const { state = 'unknown', setAt, endedAt, provenAt } = known.get(fingerprint) ?? {};
      return { instance, fingerprint, held: held.has(fingerprint), state, setAt, endedAt, provenAt };
    });
  });
  const items = (await Promise.all(rows)).flat();
  const keptIn = keyring.store.description;
  const { unread } = record;
  await printResult(context, 'keys', { keptIn, unread: unread?.shortMessage, items }, () => {
    printKeys(context, items, unread);
    context.stderr.write(`kept in: ${keptIn}\n${WITHIN}\n`);
  });
  return unread === undefined ? EXIT.closed : EXIT.failed;
}

interface OnRecord {
  readonly epochs: ReadonlyMap<string, readonly KeyEpoch[]>;
  /** Why the journal cannot be read: nothing is known of epochs then. */
  readonly unread?: Failure;
}

async function epochsOnRecord(context: CommandContext, names: readonly string[]): Promise<OnRecord> {
  const epochs = new Map<string, readonly KeyEpoch[]>();
  let journal: JournalReader | undefined;
  try {
    journal = await openJournalIfAny(context);
    if (journal !== undefined)
      for (const name of names) epochs.set(name, (await readLedger(journal, name)).epochs);
    return { epochs };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || !thrown.code.startsWith('journal.')) throw thrown;
    return { epochs: new Map(), unread: failureOf(thrown) };
  } finally {
    await journal?.close();
  }
}

const WITHIN =
  'fingerprints are made with a secret of this key store: compare them within it only (lifeboat keys --help)';

interface KeyRow {
  readonly instance: string;
  readonly fingerprint: string;
  readonly held: boolean;
  readonly state: string;
  readonly setAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly provenAt: string | undefined;
}

function printKeys(context: CommandContext, rows: readonly KeyRow[], unread: Failure | undefined): void {
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
    { title: 'set (UTC)', drops: true },
    { title: 'ended (UTC)', drops: true },
    { title: 'proven (UTC)' },
  ];
  const cells = rows.map((row) => [
    row.instance,
    row.fingerprint,
    row.held ? 'yes' : 'NO',
    row.state,
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
}

/**
 * `lifeboat keys add INSTANCE`: stores a key, from a file or typed twice; with `--token` the access token
 * instead; with `--check` nothing, and exit 1 when the key is not held. With `--as` it is kept under the
 * fingerprint by which the record of a team knows it, which another key store gave it.
 */
export async function keysAdd(
  context: CommandContext,
  _: readonly string[],
  flags: AddFlags,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const instance = chosenInstance(config, flags.instance);
  if (flags.file === undefined && context.stdin.isTTY !== true) {
    throw new LifeboatError('input.none', 'there is no terminal to enter a key on', {
      hints: ['name a file with --file FILE, or use --file - for standard input'],
      exitCode: EXIT.usage,
    });
  }
  if (flags.file !== undefined) return addKey(context, config, instance, flags);
  // Whoever pastes the key while the key store opens must not see it on the screen: also not once it is open.
  const unhush = hush(context.stdin);
  try {
    return await addKey({ ...context, unhush: undefined }, config, instance, flags);
  } finally {
    unhush();
    context.unhush?.();
  }
}

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
    const secret =
      flags.file === undefined
        ? await askHidden(`${what} of ${instance}`, context, { twice: flags.token !== true })
        : await readSecretFile(flags.file, context);
    workspace.journal.guard(secret);
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
    const fingerprint = flags.as ?? (await workspace.keyring.add(instance, secret));
    if (flags.as !== undefined) await adoptKey(workspace, instance, fingerprintFrom(flags.as), secret);
    const body = { fingerprint, ...(flags.note === undefined ? {} : { note: flags.note }) };
    await appendHolding(workspace.journal, [{ stream: `instance/${instance}`, type: 'key.added', body }]);
    const stored = { instance, kind: 'key', fingerprint, held: true, stored: !isHeld, keptIn } as const;
    await printResult(context, 'key', stored, () => {
      const already = isHeld ? 'was held already: it is' : 'is';
      context.stdout.write(`key ${fingerprint} of ${instance} ${already} stored in ${keptIn}\n`);
    });
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
}

function fingerprintFrom(word: string): string {
  const parsed = Fingerprint.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new LifeboatError('usage.fingerprint', `${show(word, 40)} is not a fingerprint`, {
    hints: ['it has 12 hex digits: `lifeboat keys list` shows those of the record', 'nothing was stored'],
    exitCode: EXIT.usage,
  });
}

/** Whether the store has a key, found out without making or storing anything. */
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
  const fingerprint = held ? await keyring.fingerprint(secret) : undefined;
  const looked = { instance, kind: 'key', fingerprint, held, stored: false, keptIn } as const;
  await printResult(context, 'key', looked, () => {
    const words = held ? `is held in ${keptIn}, as ${fingerprint}` : `is not held in ${keptIn}`;
    context.stdout.write(`this key of ${instance} ${words}\n`);
  });
  return held ? EXIT.closed : EXIT.failed;
}

/** An empty store is not asked for a fingerprint: it would make the secret for it. */
async function holds(keyring: Keyring, instance: string, secret: Secret): Promise<boolean> {
  const held = await keyring.list(instance);
  return held.length > 0 && held.includes(await keyring.fingerprint(secret));
}
