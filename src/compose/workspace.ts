import { failureOf, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { loginIfAny } from '../base/user.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/find.ts';
import type { CheckpointConfig, LoadedConfig, NotifyConfig } from '../config/loaded.ts';
import type { StoreChoice } from '../keys/choose-store.ts';
import { type Keyring, type KeyStore, MIN_PASSPHRASE } from '../keys/key-store.ts';
import type { HostPace } from '../service/host-pace.ts';
import type { Journal } from '../store/journal.ts';
import type { Checked } from '../store/log/check-log.ts';
import type { Place } from '../store/log/places/place.ts';
import type { Sealer, SealerOptions } from '../store/log/sealer.ts';
import type { Signer } from '../store/log/signer.ts';
import { openStoreOf } from './store-of.ts';
import { checkedAs, rememberStore } from './store-seen.ts';

export interface Workspace {
  readonly home: string;
  readonly operator: string;
  readonly journal: Journal;
  readonly keyring: Keyring;
  readonly signer: Signer;
  readonly sealer: Sealer;
  /** When the hosts of this process have asked to be spared. */
  readonly pace: HostPace;
  /** Seals what was appended since, closes the journal, and prints what could not be sealed. */
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly operator?: string | undefined;
  readonly checkpoints?: readonly CheckpointConfig[];
  /** Who is notified of questions, dangers and ends while the workspace is open, and when it is closed. */
  readonly notify?: readonly NotifyConfig[];
  /** The instances whose ledgers are held under the store's names for them (`instance.other-name`). */
  readonly instances?: LoadedConfig['instances'];
  /** Another key store than the environment's: a drill's keys live as long as the drill. */
  readonly store?: KeyStore;
  /**
   * For a team's store: `begun` if moving a log brings its first checkpoint into the shared folder; by
   * default a log that is not new already has it there.
   */
  readonly sharedPlace?: 'required' | 'begun';
  /** How many checkpoints of a place are checked (`checkLog`). */
  readonly most?: number;
}

export function workspaceFor({ operator, checkpoints, notify, instances }: LoadedConfig): WorkspaceOptions {
  return { operator: operator.name, checkpoints, notify, instances };
}

/**
 * Opens the home for a command that writes. The key store comes first: without one nothing is begun, and the
 * error says what is missing. Then the store is compared with its checkpoints: if it differs from what was
 * signed, this rejects with `journal.rolled-back` (exit 5) and nothing is written. A team's store needs a
 * shared folder for them (`store.unshared`). Rejects as `chooseStore` and `openStoreOf` do.
 */
export async function openWorkspace(
  context: CommandContext,
  options: WorkspaceOptions = {},
): Promise<Workspace> {
  const opened = await openChecked(context, options);
  const { checked, journal } = opened;
  if (checked.trouble === undefined && journal !== undefined) {
    const isShared = checked.store.isShared && (await sharesPlace(context, opened, journal, options));
    const { withOneName } = await import('../runner/one-name.ts');
    const named = withOneName(journal, options.instances ?? {});
    return workspaceOf(context, opened, named, { notify: options.notify, isShared });
  }
  await journal?.close();
  if (checked.trouble === undefined) throw new Error('a store that is gone is trouble');
  const { rolledBack } = await import('../store/log/explain-trouble.ts');
  throw rolledBack(checked.trouble);
}

/** A person may continue without a team's folders, which is recorded. */
async function sharesPlace(
  { alone }: CommandContext,
  { checked, signer }: OpenedStore,
  journal: Journal,
  { sharedPlace }: WorkspaceOptions,
): Promise<boolean> {
  try {
    const { lackOfPlace, recordAlone, unshared } = await import('./shared-place.ts');
    const lack = await lackOfPlace(checked, { journal, signer, isBegun: sharedPlace === 'begun' });
    if (alone !== undefined) await recordAlone(journal, alone, lack);
    else if (lack !== undefined) throw unshared(lack);
    return alone === undefined;
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

/** A store that was opened and compared with its checkpoints, before any refusal. */
export interface OpenedStore {
  readonly home: string;
  readonly operator: string;
  readonly keyring: Keyring;
  readonly signer: Signer;
  readonly places: readonly [Place, ...Place[]];
  readonly checked: Checked;
  /** Undefined if the home had a store that is now gone or unreadable. */
  readonly journal: Journal | undefined;
}

export async function openChecked(
  context: CommandContext,
  options: WorkspaceOptions = {},
): Promise<OpenedStore> {
  const home = homeFolder(context.env);
  const operator = options.operator ?? loginName(context.env);
  const { openKeyring } = await import('../keys/keyring.ts');
  const keyring = options.store === undefined ? await openKeys(context) : openKeyring(options.store);
  const { createSigner } = await import('../store/log/signer.ts');
  const { placesOf } = await import('./checkpoint-places.ts');
  const { checkLog } = await import('../store/log/check-log.ts');
  const signer = createSigner(await keyring.signingKey());
  const places = placesOf(home, options.checkpoints ?? []);
  const check = { ownKey: signer.publicKey, ...(await checkedAs(context)), most: options.most };
  let journal: Journal | undefined;
  try {
    journal = await openStoreOf(context, { by: operator, signer });
    const checked = await checkLog(journal, places, check);
    return { home, operator, keyring, signer, places, checked, journal };
  } catch (thrown) {
    await journal?.close();
    const unreadable = whyGone(thrown);
    const checked = await checkLog(undefined, places, { ...check, unreadable });
    return { home, operator, keyring, signer, places, checked, journal: undefined };
  }
}

/** Why a store cannot be read, or undefined if it is gone; anything else is rethrown. */
function whyGone(thrown: unknown): string | undefined {
  if (thrown instanceof LifeboatError && thrown.code === 'journal.gone') return undefined;
  if (thrown instanceof LifeboatError && thrown.code === 'journal.unreadable') return thrown.shortMessage;
  throw thrown;
}

interface Informed extends Pick<SealerOptions, 'isShared'> {
  readonly notify?: readonly NotifyConfig[] | undefined;
}

export async function workspaceOf(
  context: CommandContext,
  { home, operator, keyring, signer, places, checked }: OpenedStore,
  journal: Journal,
  { notify = [], isShared = false }: Informed = {},
): Promise<Workspace> {
  const { createSealer } = await import('../store/log/sealer.ts');
  const { excusesOf } = await import('../store/log/log-entries.ts');
  const { HostPace: Pace } = await import('../service/host-pace.ts');
  // Printed at the end: an earlier line on stderr would fall into the middle of the screen.
  const problems = new Set(checked.warnings);
  const { origin } = checked.store;
  await rememberStore(context, origin);
  const sealed = checked.places[0]?.checkpoints.filter((one) => !one.isAccepted && one.origin === origin);
  const sealer = createSealer(
    journal,
    {
      signer,
      places,
      isAccepted: excusesOf(checked.losses, origin),
      isShared,
      onProblem: ({ shortMessage }) => void problems.add(shortMessage),
    },
    Math.max(0, ...(sealed ?? []).map(({ size }) => size)),
  );
  // An earlier process may have died before its last checkpoint, which an audit requires.
  if (!checked.store.isShared) await sealer.sealRest();
  const notifier = notify.length === 0 ? undefined : await notifierOf(journal, notify);
  const close = async () => {
    for (const problem of (await notifier?.finish()) ?? []) problems.add(problem);
    await sealer.sealRest();
    if (origin === undefined && checked.store.isShared)
      await rememberStore(context, await journal.log.origin().catch(() => undefined));
    await journal.close();
    for (const problem of problems) context.stderr.write(`warning: ${show(problem)}\n`);
  };
  return { home, operator, journal, keyring, signer, sealer, pace: new Pace(), close };
}

async function notifierOf(journal: Journal, targets: readonly NotifyConfig[]) {
  const { startNotifier } = await import('./notifier.ts');
  return startNotifier(journal, targets);
}

/**
 * The key store that the environment asks for, with the keys of the instances in it. It is opened for
 * writing, so proven usable; with `look` no disk has to be writable, and an open one is reused. Rejects with
 * `keys.gone` if the home remembers keys and the store has none; with `check` without asking for a new store.
 */
export async function openKeys(
  context: CommandContext,
  how: 'change' | 'look' | 'check' = 'change',
): Promise<Keyring> {
  if (how === 'look' && context.keyring !== undefined) return context.keyring;
  try {
    return await openKeyStore(context, how);
  } finally {
    context.restoreEcho?.();
  }
}

async function openKeyStore(context: CommandContext, how: 'change' | 'look' | 'check'): Promise<Keyring> {
  const { chooseStore } = await import('../keys/choose-store.ts');
  const { openKeyring } = await import('../keys/keyring.ts');
  const { missingVault, assertKeysPresent } = await import('./keys-gone.ts');
  const home = homeFolder(context.env);
  const vault = how === 'look' ? undefined : missingVault(context.env, home);
  const missing = {
    kind: 'vault' as const,
    store: show(vault ?? ''),
    isThere: false,
    installationSecret: true,
    signingKey: true,
  };
  // Before the passphrase of a new store is asked for.
  let isAgreed = vault !== undefined && (await assertKeysPresent(context, home, missing, how === 'change'));
  const choice = { env: context.env, home, toRead: how === 'look' };
  const store = await unlocked(context, (asker) => chooseStore({ ...choice, ...asker }));
  const keyring = openKeyring(store);
  if (how === 'look') return keyring;
  if (!isAgreed && vault === undefined) {
    const roots = await keyring.roots();
    const lost = { installationSecret: !roots.installationSecret, signingKey: !roots.signingKey };
    const here = { kind: store.kind, store: store.description, isThere: true };
    isAgreed = await assertKeysPresent(context, home, { ...here, ...lost }, how === 'change');
  }
  // Both at once: the next process must not ask again.
  if (isAgreed) await Promise.all([keyring.signingKey(), keyring.fingerprint(new Secret('any'))]);
  return keyring;
}

/** The login name: for entries' `by` if the config names no operator, and to recognise the operator. */
export function loginName(env: NodeJS.ProcessEnv): string {
  return loginIfAny() ?? (env['USER'] || 'unknown');
}

type AskPassphrase = NonNullable<StoreChoice['askPassphrase']>;

/**
 * The result of `open`, with the passphrase that a person enters where one can be asked. On the screen, the
 * field reports a passphrase that does not open the vault, and asks again.
 */
async function unlocked<T>(
  context: CommandContext,
  open: (asker: { readonly askPassphrase?: AskPassphrase }) => Promise<T>,
  refused?: string,
): Promise<T> {
  if (context.stdin.isTTY !== true) return open({});
  const { passphrase, screen } = context;
  let wasEntered = false;
  let again: string;
  const askPassphrase: AskPassphrase = async (purpose) => {
    const secret = await entered(purpose, context, refused);
    wasEntered = true;
    return secret;
  };
  try {
    return await open({ askPassphrase });
  } catch (thrown) {
    const { code, shortMessage } = failureOf(thrown);
    if (code !== 'keys.wrong-passphrase') throw thrown;
    passphrase?.forget(thrown);
    if (!wasEntered || screen === undefined) throw thrown;
    passphrase?.askAgain();
    again = shortMessage;
  } finally {
    if (wasEntered) screen?.say('');
  }
  return unlocked(context, open, again);
}

async function entered(
  purpose: 'open' | 'create',
  context: CommandContext,
  refused: string | undefined,
): Promise<Secret> {
  const { passphrase, screen, stderr } = context;
  // Imported late: most commands are asked for no passphrase.
  const { askHidden } = await import('../cli/hidden-prompt.ts');
  if (purpose === 'create') {
    const prompt = `a new passphrase for the vault file, ${MIN_PASSPHRASE} characters or more`;
    return askHidden(prompt, context, { twice: true, least: MIN_PASSPHRASE });
  }
  const isUnasked = passphrase?.isUnasked === true && refused === undefined;
  const ask = async () => {
    const secret = await askHidden('passphrase of the vault file', context, { least: 1, refused, isUnasked });
    // Opening it takes a second, and many on a busy machine.
    if (screen === undefined) stderr.write('opening the vault file\n');
    else screen.say('opening the vault file');
    return secret;
  };
  return passphrase?.get(ask) ?? ask();
}
