import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { sync as replaceFile } from 'write-file-atomic';
import { EXIT, errorCode, LifeboatError, troubleWith } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, printResult } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { writeNewFile } from '../../cli/write-new-file.ts';
import { openKeys } from '../../compose/workspace.ts';
import { loadConfig, parseConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { CONFIG_SCHEMA, configJsonSchema } from '../../config/schema.ts';
import { type StarterInstance, starterConfig } from '../../config/starter.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { canAsk } from '../../plain/terminal.ts';
import { attempt, type Check, good, printChecks } from '../doctor/check.ts';
import { keyringChecks } from '../doctor/keys-held.ts';
import { type Chosen, chooseInstances, type InstanceFlags } from './choose.ts';
import { left, type Prompts, promptsOn } from './prompts.ts';

export interface InitFlags extends InstanceFlags {
  readonly revision?: '61' | '62' | 'v0' | 'auto';
  readonly ca?: string;
  readonly untested?: boolean;
  readonly print?: boolean;
  readonly confirm?: string;
}

/**
 * `lifeboat init`: writes a first lifeboat.yaml, after trying it. Sends only GETs; writes, besides the config
 * and its JSON Schema, at most a probe into the key store, or a new vault. A process that dies inside leaves
 * the whole config or none. Exit 0 when it is written, 1 or 4 when an instance does not answer, 130 when the
 * person leaves; then there is no config.
 */
export async function init(context: CommandContext, _: readonly string[], flags: InitFlags): Promise<number> {
  const stop = stopSignal();
  try {
    // The first question is about instances, and its answer must be visible.
    context.restoreEcho?.();
    const prompts = asksPeople(context, flags) ? promptsOn(context, stop.signal) : undefined;
    await make(context, flags, prompts, stop);
    return EXIT.closed;
  } catch (thrown) {
    throw stop.signal.aborted ? left(thrown) : thrown;
  } finally {
    stop.release();
  }
}

function asksPeople(context: CommandContext, { yes = false }: InitFlags): boolean {
  return isForPeople(context) && canAsk(context) && !yes;
}

async function make(
  context: CommandContext,
  flags: InitFlags,
  prompts: Prompts | undefined,
  { signal, stopped }: ReturnType<typeof stopSignal>,
): Promise<void> {
  // A service that does not answer must not keep the person from leaving.
  const unlessLeft = <Value>(work: Promise<Value>) =>
    Promise.race([work, stopped.then(() => Promise.reject(left()))]);
  const place = flags.print
    ? { path: resolve('lifeboat.yaml'), replaces: false }
    : await placeOfConfig(context, flags.confirm, prompts);
  const chosen = await chooseInstances(flags, () => askCf(context, signal), prompts);
  const keys = await unlessLeft(chooseKeyStore(context, prompts));
  const wanted = instancesOf(chosen, flags, dirname(place.path));
  if (prompts !== undefined) context.stderr.write(`trying ${counted(wanted.length, 'instance')} ...\n`);
  const tried = await unlessLeft(tryInstances(place.path, wanted, keys.store, flags.revision === 'auto'));
  const checks = [...chosen.checks, keys.check, ...tried.checks];
  const made = { place, checks, keys, instances: tried.instances };
  const bad = tried.checks.filter(({ state }) => state === 'bad');
  if (bad.length > 0 && flags.untested !== true) await agreeToUntested(context, made, bad, prompts);
  signal.throwIfAborted();
  const { keyStore } = keys;
  const { instances } = tried;
  if (flags.print)
    return printMade(context, { ...made, written: false, text: starterConfig({ instances, keyStore }) });
  const hasSchema = writeEditorSchema(place);
  const text = starterConfig({
    instances,
    keyStore,
    editorSchema: hasSchema ? `./${EDITOR_SCHEMA}` : undefined,
  });
  await writeConfig(place, text, context.env);
  await printMade(context, { ...made, written: true });
}

async function askCf({ env }: CommandContext, signal: AbortSignal) {
  const { instancesOfCf } = await import('../../platform/open.ts');
  return instancesOfCf({ env, signal });
}

const REVISIONS = { 61: 61, 62: 62, v0: 'v0', auto: 'auto' } as const;

/** The instances as a config in `folder` states them; paths in it are relative to that folder. */
function instancesOf({ instances, token }: Chosen, flags: InitFlags, folder: string): StarterInstance[] {
  return instances.map(({ name, url }) => ({
    name,
    url,
    revision: REVISIONS[flags.revision ?? 'auto'],
    token: 'file' in token ? { ...token, file: pathFrom(folder, token.file) } : token,
    ...(flags.ca === undefined ? {} : { ca: pathFrom(folder, flags.ca) }),
  }));
}

/** Rewrites a path typed in the working folder for a file in another folder. */
function pathFrom(folder: string, path: string): string {
  if (isAbsolute(path)) return path;
  const inside = relative(folder, resolve(path));
  return inside.startsWith('..') ? resolve(path) : `./${inside}`;
}

/** An instance that does not answer today may still be configured correctly; a person decides. */
async function agreeToUntested(
  context: CommandContext,
  made: Omit<Made, 'written'> & { readonly place: ConfigPlace },
  bad: readonly Check[],
  prompts: Prompts | undefined,
): Promise<void> {
  if (prompts === undefined) {
    await printMade(context, { ...made, written: false });
    throw untested(bad);
  }
  printChecks({ ...context, stdout: context.stderr }, made.checks);
  const goesOn = await prompts.one('Not everything answered. Write the config anyway?', [
    { value: false, name: 'no, write nothing' },
    { value: true, name: 'yes, write it' },
  ]);
  if (!goesOn) throw left();
}

function untested(bad: readonly Check[]): LifeboatError {
  const what = [...new Set(bad.map((check) => check.what))].join(', ');
  return new LifeboatError(
    'init.untested',
    `${show(what, 120)}: not as it should be, so nothing was written`,
    {
      hints: ['correct it and try again', 'to write the config anyway: --untested'],
      exitCode: bad.every(({ credentials }) => credentials === true) ? EXIT.credentials : EXIT.failed,
    },
  );
}

interface Made {
  readonly place: ConfigPlace;
  readonly instances: readonly StarterInstance[];
  readonly checks: readonly Check[];
  readonly keys: ChosenStore;
  readonly written: boolean;
  /** The config, if it is only printed. */
  readonly text?: string;
}

async function printMade(context: CommandContext, made: Made): Promise<void> {
  const { place, instances, checks, keys, written, text } = made;
  const result = {
    written,
    path: place.path,
    replaced: written && place.replaces,
    instances: instances.map(({ name, url, revision }) => ({ name, url, revision: String(revision) })),
    keyStore: keys.store?.kind ?? ('none' as const),
    checks: [...checks],
    ...(text === undefined ? {} : { config: text }),
  };
  await printResult(context, 'init', result, () => {
    if (text === undefined) return inWords(context, made);
    printChecks({ ...context, stdout: context.stderr }, checks);
    context.stdout.write(text);
  });
}

function inWords(context: CommandContext, { place, instances, checks, keys, written }: Made): void {
  printChecks(context, checks);
  if (!written) return;
  const { stdout, configPath } = context;
  const say = (line: string) => stdout.write(`${line}\n`);
  say(`${show(place.path, 200)} is written, with ${counted(instances.length, 'instance')}`);
  if (keys.keyStore === 'vault' && !givesPassphrase(context.env))
    say('without a terminal for the passphrase of the vault file: set LIFEBOAT_PASSPHRASE_FILE');
  const config = configPath === undefined ? '' : ` --config ${shellQuoted(configPath)}`;
  say(`next: lifeboat doctor${config}`);
  for (const { name } of instances)
    say(`next: lifeboat keys add ${name}${config}      # the encryption key that is in force`);
}

interface Tried {
  readonly instances: readonly StarterInstance[];
  readonly checks: readonly Check[];
}

/**
 * Tries each instance by GETs, as the config at `path` will state it. Replaces revision `auto` by the
 * detected one if the instance answers. Rejects with `config.invalid` for values that a config refuses.
 */
async function tryInstances(
  path: string,
  wanted: readonly StarterInstance[],
  store: KeyStore | undefined,
  keepsAuto: boolean,
): Promise<Tried> {
  const config = parseConfig(starterConfig({ instances: wanted }), path);
  const { lookAtInstance } = await import('../doctor/instance.ts');
  const tried = await Promise.all(
    wanted.map(async (instance) => {
      const { checks, revision = instance.revision } = await lookAtInstance(config, instance.name, store);
      const isKnown = !keepsAuto && checks.every(({ state }) => state !== 'bad');
      const seen = { ...instance, revision: isKnown ? revision : instance.revision };
      return { instance: seen, checks };
    }),
  );
  return {
    instances: tried.map(({ instance }) => instance),
    checks: tried.flatMap(({ checks }) => checks),
  };
}

interface ChosenStore {
  readonly store: KeyStore | undefined;
  readonly check: Check;
  readonly keyStore: 'vault' | undefined;
}

/**
 * As environment or config ask; else the keychain of this machine, proven by a probe; else a vault file with
 * a person's passphrase. Otherwise says what is missing: keys are never kept in plain text.
 */
async function chooseKeyStore(context: CommandContext, prompts: Prompts | undefined): Promise<ChosenStore> {
  const first = await opened(context);
  if (first.store !== undefined || context.env['LIFEBOAT_KEYCHAIN']) return named(first);
  const wantsVault = givesPassphrase(context.env) || (await agreed(context, first.check, prompts));
  if (!wantsVault) return named(first);
  return named(await opened({ ...context, env: { ...context.env, LIFEBOAT_KEYCHAIN: 'vault' } }));
}

function givesPassphrase(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['LIFEBOAT_PASSPHRASE_FILE']) || Boolean(env['LIFEBOAT_PASSPHRASE_COMMAND']);
}

function named(opened: Pick<ChosenStore, 'store' | 'check'>): ChosenStore {
  return { ...opened, keyStore: opened.store?.kind === 'vault' ? 'vault' : undefined };
}

async function opened(context: CommandContext): Promise<Pick<ChosenStore, 'store' | 'check'>> {
  const found = await attempt('key store', () => openKeys(context, 'check'));
  if ('check' in found) return { store: undefined, check: { ...found.check, state: 'warn' } };
  const { store } = found.value;
  const [trouble] = await keyringChecks(context.env, store);
  if (trouble !== undefined) return { store, check: { ...trouble, state: 'warn' } };
  return { store, check: good('key store', `${store.description}: written, read and removed a probe`) };
}

async function agreed(
  { stderr }: CommandContext,
  { found }: Check,
  prompts: Prompts | undefined,
): Promise<boolean> {
  if (prompts === undefined) return false;
  stderr.write(`the keychain of this machine cannot be used: ${found}\n`);
  return prompts.one('Where are keys kept?', [
    { value: true, name: 'in a vault file, under a passphrase' },
    { value: false, name: 'nowhere yet: set it up later' },
  ]);
}

/** For editors. Unlike an installation's path, it can be committed with the config. */
const EDITOR_SCHEMA = 'lifeboat.schema.json';

/** Returns whether the JSON Schema for editors is there. Keeps another file of this name. */
function writeEditorSchema({ path }: ConfigPlace): boolean {
  const file = join(dirname(path), EDITOR_SCHEMA);
  const text = `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
  try {
    const before = textAt(file);
    if (before === undefined) writeNewFile(file, text);
    else if (!isOurs(before)) return false;
    else if (before !== text) replaceFile(file, text);
    return true;
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

function textAt(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function isOurs(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly $id?: unknown } | null)?.$id === CONFIG_SCHEMA;
  } catch {
    return false;
  }
}

/**
 * Writes the config, mode 0600, whole or not at all, and loads it as every command does. Removes a new one
 * that would not be accepted, for instance because others can write into its folder.
 */
async function writeConfig(
  { path, replaces }: ConfigPlace,
  text: string,
  env: NodeJS.ProcessEnv,
): Promise<LoadedConfig> {
  try {
    if (replaces) replaceFile(path, text, { mode: 0o600 });
    else writeNewFile(path, text);
  } catch (cause) {
    throw notWritten(path, cause);
  }
  try {
    return await loadConfig(env, path);
  } catch (thrown) {
    if (!replaces) rmSync(path, { force: true });
    throw thrown;
  }
}

function notWritten(path: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(path, cause);
  return new LifeboatError('init.file', `${show(path, 120)} cannot be written: ${why}`, {
    hints: [advice, 'or name another place with --config FILE'],
    cause,
    exitCode: EXIT.failed,
  });
}

interface ConfigPlace {
  readonly path: string;
  readonly replaces: boolean;
}

/**
 * `--config`, LIFEBOAT_CONFIG, else the working folder. Replaces a file only after its name was typed, else
 * rejects with `init.exists` (exit 2); with `init.folder` if the folder is missing.
 */
async function placeOfConfig(
  { env, configPath }: CommandContext,
  confirm: string | undefined,
  prompts: Prompts | undefined,
): Promise<ConfigPlace> {
  const path = resolve(configPath ?? (env['LIFEBOAT_CONFIG'] || 'lifeboat.yaml'));
  if (!existsSync(dirname(path))) throw noFolder(dirname(path));
  if (!existsSync(path)) return { path, replaces: false };
  const name = basename(path);
  if (confirm === name) return { path, replaces: true };
  if (prompts === undefined || confirm !== undefined) throw taken(path, name);
  const isName = (text: string) => (text === name ? undefined : 'that is not its name');
  await prompts.line(`${show(path, 200)} exists. Type ${show(name)} to replace it:`, isName);
  return { path, replaces: true };
}

function noFolder(folder: string): LifeboatError {
  return new LifeboatError('init.folder', `the folder ${show(folder, 200)} does not exist`, {
    hints: [`make it: mkdir -p ${shellQuoted(folder)}`, 'nothing was written'],
    exitCode: EXIT.usage,
  });
}

function taken(path: string, name: string): LifeboatError {
  return new LifeboatError('init.exists', `${show(path, 200)} already exists`, {
    hints: [
      'nothing was written: `lifeboat init --print` shows what it would be',
      'write it to another place with --config FILE',
      `to replace it on purpose: --confirm ${show(name)}`,
    ],
    exitCode: EXIT.usage,
  });
}
