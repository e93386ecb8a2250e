import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { printResult } from '../../cli/print-result.ts';
import { readGivenFile, readSecretFile } from '../../cli/read-given-file.ts';
import { writeNewFile } from '../../cli/write-new-file.ts';
import { openKeys } from '../../compose/workspace.ts';
import { identityIn, identityItem } from '../../keys/identity.ts';
import {
  isUnderPassphrase,
  MAX_KEY_FILE_BYTES,
  openKeyFile,
  type SealedTo,
  sealKeyFile,
} from '../../keys/key-file.ts';
import { type KeyBundle, type Keyring, MIN_PASSPHRASE } from '../../keys/key-store.ts';
import { tooShort } from '../../view/secret-words.ts';
import { identities } from './escrow-prove.ts';

interface ExportFlags {
  readonly instance?: string;
  readonly to?: readonly string[];
  readonly passphraseFile?: string;
  readonly withIdentity?: boolean;
}

/**
 * `lifeboat keys export FILE`: writes the keys of this key store into one armoured age file, for recipients
 * or under a passphrase. Tokens and the key that signs the journal stay. Nothing is overwritten.
 */
export const keysExport: Action<ExportFlags> = async (context, [file = ''], flags) => {
  const { instance, to, passphraseFile, withIdentity } = flags;
  if (to !== undefined && passphraseFile !== undefined)
    throw new LifeboatError('usage.option', '--to and --passphrase-file: give one of them', {
      hints: ['nothing was written'],
      exitCode: EXIT.usage,
    });
  const keyring = await openKeys(context, 'look');
  const bundle = await bundleOf(keyring, instance);
  const sealedTo: SealedTo = to ?? (await newPassphrase(context, 'the key file', passphraseFile));
  const identity = withIdentity === true ? (await identityIn(keyring.store))?.identity : undefined;
  writeNewFile(file, await sealKeyFile({ ...bundle, identity }, sealedTo));
  const instances = instancesOf(bundle);
  const result = { path: file, keys: bundle.keys.length, instances, identity: identity !== undefined };
  await printResult(context, 'key-file', result, () => {
    context.stdout.write(`${countOf(bundle)} written to ${show(file, 300)}\n`);
    context.stderr.write('on the other machine: `lifeboat keys import FILE`; then delete the file\n');
  });
  return EXIT.closed;
};

/** The keys of an instance, or of all. Throws `keys.none` if there are none. */
export async function bundleOf(keyring: Keyring, instance: string | undefined): Promise<KeyBundle> {
  const bundle = await keyring.bundle(instance);
  if (bundle.keys.length > 0) return bundle;
  const whose = instance === undefined ? '' : ` of ${show(instance, 80)}`;
  throw new LifeboatError('keys.none', `${keyring.store.description} holds no key${whose}`, {
    hints: ['nothing was written', '`lifeboat keys list` lists the keys'],
  });
}

interface ImportFlags {
  readonly identity?: string;
  readonly passphraseFile?: string;
}

/**
 * `lifeboat keys import FILE`: stores every key of a file that `keys export` wrote, or none of them. A key
 * that is held with another value stops it before anything is written.
 */
export const keysImport: Action<ImportFlags> = async (context, [file = ''], flags) => {
  const { identity, passphraseFile } = flags;
  const sealed = (await readGivenFile(file, MAX_KEY_FILE_BYTES, 'nothing was stored')).toString();
  const keyring = await openKeys(context);
  const by = isUnderPassphrase(sealed, show(file, 300))
    ? await passphraseFor(context, file, passphraseFile)
    : await identities(keyring.store, identity);
  const opened = await openKeyFile(sealed, by, show(file, 300));
  const identityToo = opened.identity === undefined ? undefined : identityItem(opened.identity);
  const { added } = await keyring.takeBundle(opened, identityToo);
  await printStored(context, keyring, opened, added);
  return EXIT.closed;
};

export async function printStored(
  context: CommandContext,
  { store }: Keyring,
  bundle: KeyBundle,
  added: number,
): Promise<void> {
  const keptIn = store.description;
  const result = { keys: bundle.keys.length, added, instances: instancesOf(bundle), keptIn };
  await printResult(context, 'keys-stored', result, () => {
    for (const { instance, fingerprint } of bundle.keys)
      context.stdout.write(`key ${fingerprint} of ${show(instance, 80)}\n`);
    context.stderr.write(`${countOf(bundle)}, ${added} of them new, kept in: ${keptIn}\n`);
  });
}

/** `3 keys of orders, users`. */
export function countOf(bundle: KeyBundle): string {
  return `${counted(bundle.keys.length, 'key')} of ${instancesOf(bundle).join(', ')}`;
}

export function instancesOf({ keys }: KeyBundle): string[] {
  return [...new Set(keys.map(({ instance }) => show(instance, 80)))].sort();
}

/** A passphrase that is new: from a file, or typed twice. */
export async function newPassphrase(
  context: CommandContext,
  what: string,
  file: string | undefined,
): Promise<Secret> {
  const prompt = `a new passphrase for ${what}, ${MIN_PASSPHRASE} characters or more`;
  const passphrase =
    file === undefined
      ? await askHidden(prompt, context, { twice: true, least: MIN_PASSPHRASE })
      : await readSecretFile(file, context);
  if (tooShort(passphrase.reveal(), MIN_PASSPHRASE) === undefined) return passphrase;
  throw new LifeboatError(
    'keys.weak-passphrase',
    `the passphrase has fewer than ${MIN_PASSPHRASE} characters`,
    {
      hints: ['nothing was written', 'five words drawn at random are good'],
      exitCode: EXIT.usage,
    },
  );
}

async function passphraseFor(
  context: CommandContext,
  file: string,
  passphraseFile: string | undefined,
): Promise<Secret> {
  if (passphraseFile !== undefined) return await readSecretFile(passphraseFile, context);
  return await askHidden(`passphrase of ${show(file, 200)}`, context, { least: 1 });
}
