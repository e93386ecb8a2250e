import { userInfo } from 'node:os';
import { failureOf, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { askHidden } from '../cli/hidden-prompt.ts';
import { homeFolder } from '../config/find.ts';
import type { CheckpointConfig, LoadedConfig, NotifyConfig } from '../config/loaded.ts';
import type { Keyring, KeyStore } from '../keys/key-store.ts';
import type { Journal } from '../store/journal.ts';
import type { Checked } from '../store/log/check-log.ts';
import type { Place } from '../store/log/places/place.ts';
import type { Sealer } from '../store/log/sealer.ts';
import type { Signer } from '../store/log/signer.ts';
import { isShared, openStoreOf } from './store-of.ts';

/** The journal, the keys and the checkpoints of one home, open for writing. */
export interface Workspace {
  readonly home: string;
  readonly operator: string;
  readonly journal: Journal;
  readonly keyring: Keyring;
  readonly signer: Signer;
  readonly sealer: Sealer;
  /**
   * Seals what was appended and is not sealed yet, closes the journal, and prints what could not be sealed.
   */
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly operator?: string | undefined;
  /** Further places for signed checkpoints. */
  readonly checkpoints?: readonly CheckpointConfig[];
  /** Who is told of questions, dangers and ends while the workspace is open, and when it is closed. */
  readonly notify?: readonly NotifyConfig[];
  /** Another key store than the environment's: a drill's keys live as long as the drill. */
  readonly store?: KeyStore;
  /** How many checkpoints of a place are looked at (`checkLog`). */
  readonly most?: number;
}

/** How a command that has a config opens its workspace. */
export function workspaceFor({ operator, checkpoints, notify }: LoadedConfig): WorkspaceOptions {
  return { operator: operator.name, checkpoints, notify };
}

/**
 * Begins what `openWorkspace` will wait for. It pays where other things come first; should they fail, nothing
 * was asked for and nothing is open.
 */
export async function openWorkspaceAhead({ env }: Pick<CommandContext, 'env'>): Promise<void> {
  const { chooseStoreAhead } = await import('../keys/choose-store.ts');
  chooseStoreAhead(env);
}

/**
 * Opens the home for a command that writes. The key store comes first: without one nothing is begun, and the
 * error says what is missing. Then the store is held against its checkpoints: where it is not what was
 * signed, this rejects with `journal.rolled-back` (exit 5) and nothing is written. Rejects with what
 * `chooseStore` and `openStoreOf` reject with.
 */
export async function openWorkspace(
  context: CommandContext,
  options: WorkspaceOptions = {},
): Promise<Workspace> {
  const opened = await openChecked(context, options);
  const { checked, journal } = opened;
  if (checked.trouble === undefined && journal !== undefined)
    return workspaceOf(context, opened, journal, options.notify);
  await journal?.close();
  if (checked.trouble === undefined) throw new Error('a store that is gone is trouble');
  const { rolledBack } = await import('../store/log/explain-trouble.ts');
  throw rolledBack(checked.trouble);
}

/** A store that was opened and held against its checkpoints; nothing was refused yet. */
export interface OpenedStore {
  readonly home: string;
  readonly operator: string;
  readonly keyring: Keyring;
  readonly signer: Signer;
  readonly places: readonly [Place, ...Place[]];
  readonly checked: Checked;
  /** Undefined where there was a store in the home, and there is none now that can be read. */
  readonly journal: Journal | undefined;
}

/** Opens keys, places and store, and checks. Rejects with what they reject with. */
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
  const check = { ownKey: signer.publicKey, isShared: await isShared(context), most: options.most };
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

/** Why a store cannot be read, or undefined where it is gone; anything else is thrown again. */
function whyGone(thrown: unknown): string | undefined {
  if (thrown instanceof LifeboatError && thrown.code === 'journal.gone') return undefined;
  if (thrown instanceof LifeboatError && thrown.code === 'journal.unreadable') return thrown.shortMessage;
  throw thrown;
}

/** The workspace over a store that was opened and checked. */
export async function workspaceOf(
  context: CommandContext,
  { home, operator, keyring, signer, places, checked }: OpenedStore,
  journal: Journal,
  notify: readonly NotifyConfig[] = [],
): Promise<Workspace> {
  const { createSealer } = await import('../store/log/sealer.ts');
  const { excusesOf } = await import('../store/log/losses.ts');
  // Printed at the end: in between, a line on stderr would fall into the middle of the screen.
  const problems = new Set(checked.warnings);
  const { origin } = checked.store;
  const sealed = checked.places[0]?.checkpoints.filter((one) => !one.isAccepted && one.origin === origin);
  const sealer = createSealer(
    journal,
    {
      signer,
      places,
      isAccepted: excusesOf(checked.losses, origin),
      onProblem: ({ shortMessage }) => void problems.add(shortMessage),
    },
    Math.max(0, ...(sealed ?? []).map(({ size }) => size)),
  );
  // A process before this one may have died between what it wrote last and the checkpoint of it, which an
  // audit asks for.
  if (!checked.store.isShared) await sealer.sealRest();
  const notifier = notify.length === 0 ? undefined : await notifierOf(journal, notify);
  const close = async () => {
    for (const problem of (await notifier?.finish()) ?? []) problems.add(problem);
    await sealer.sealRest();
    await journal.close();
    for (const problem of problems) context.stderr.write(`warning: ${show(problem)}\n`);
  };
  return { home, operator, journal, keyring, signer, sealer, close };
}

async function notifierOf(journal: Journal, targets: readonly NotifyConfig[]) {
  const { startNotifier } = await import('./notifier.ts');
  return startNotifier(journal, targets);
}

/**
 * The key store that the environment asks for, with the keys of the instances in it: to be written to, so
 * proven usable, unless it is only looked into (`look`), where no disk has to be writable and
 * one that is open already will do. Rejects with
 * `keys.gone` where the home remembers keys and the store has none; with `check` nobody is asked whether to
 * begin anew.
 */
export async function openKeys(
  context: CommandContext,
  how: 'change' | 'look' | 'check' = 'change',
): Promise<Keyring> {
  if (how === 'look' && context.keyring !== undefined) return context.keyring;
  try {
    return await openKeysUnseen(context, how);
  } finally {
    context.unhush?.();
  }
}

async function openKeysUnseen(context: CommandContext, how: 'change' | 'look' | 'check'): Promise<Keyring> {
  const { chooseStore } = await import('../keys/choose-store.ts');
  const { openKeyring } = await import('../keys/keyring.ts');
  const { missingVault, refuseGone } = await import('./keys-gone.ts');
  const home = homeFolder(context.env);
  const vault = how === 'look' ? undefined : missingVault(context.env, home);
  const missing = {
    kind: 'vault' as const,
    store: show(vault ?? ''),
    isThere: false,
    installationSecret: true,
    signingKey: true,
  };
  // Before anybody is asked for the passphrase of a new one.
  let isAgreed = vault !== undefined && (await refuseGone(context, home, missing, how === 'change'));
  context.meanwhile?.();
  const store = await chooseStore({
    env: context.env,
    home,
    toRead: how === 'look',
    ...(context.stdin.isTTY === true
      ? { askPassphrase: (purpose: 'open' | 'create') => askPassphrase(purpose, context) }
      : {}),
  }).catch((thrown: unknown) => {
    if (failureOf(thrown).code === 'keys.wrong-passphrase') context.passphrase?.forget(thrown);
    throw thrown;
  });
  const keyring = openKeyring(store);
  if (how === 'look') return keyring;
  if (!isAgreed && vault === undefined) {
    const roots = await keyring.roots();
    const lost = { installationSecret: !roots.installationSecret, signingKey: !roots.signingKey };
    const here = { kind: store.kind, store: store.description, isThere: true };
    isAgreed = await refuseGone(context, home, { ...here, ...lost }, how === 'change');
  }
  // Both at once: the next process must not ask again.
  if (isAgreed) await Promise.all([keyring.signingKey(), keyring.fingerprint(new Secret('any'))]);
  return keyring;
}

/** The login name: for entries' `by` when the config names nobody, and to know the operator by. */
export function loginName(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] || 'unknown';
  }
}

function askPassphrase(purpose: 'open' | 'create', context: CommandContext) {
  if (purpose === 'open') {
    const { passphrase } = context;
    const leave = passphrase?.isOptional === true ? ' (Esc: go on without it)' : '';
    const ask = () => askHidden(`passphrase of the vault${leave}`, context);
    return passphrase?.get(ask) ?? ask();
  }
  return askHidden('a new passphrase for the vault, 12 characters or more', context, { twice: true });
}
