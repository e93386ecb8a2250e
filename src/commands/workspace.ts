import { userInfo } from 'node:os';
import type { Sealer } from '../audit/seal.ts';
import { homeFolder } from '../config/load.ts';
import type { LifeboatError } from '../errors.ts';
import type { Keyring, KeyStore } from '../keys/key-store.ts';
import { Secret } from '../secret.ts';
import type { Journal } from '../store/journal.ts';
import { show } from '../text.ts';
import type { CommandContext } from './context.ts';
import { askHidden } from './hidden-prompt.ts';

/** The journal, the keys and the seals of one home, open for writing. */
export interface Workspace {
  readonly home: string;
  readonly operator: string;
  readonly journal: Journal;
  readonly keyring: Keyring;
  readonly sealer: Sealer;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly operator?: string | undefined;
  /** Further folders for signed checkpoints. */
  readonly checkpoints?: readonly string[];
  /** Another key store than the environment's: a drill's keys live as long as the drill. */
  readonly store?: KeyStore;
}

/**
 * Opens the home for a command that writes. The key store comes first: without one nothing is begun, and the error says what is
 * missing. Rejects with what `chooseStore` and `openSqliteJournal` reject with.
 */
export async function openWorkspace(
  context: CommandContext,
  options: WorkspaceOptions = {},
): Promise<Workspace> {
  const home = homeFolder(context.env);
  const operator = options.operator ?? loginName(context.env);
  const { openKeyring } = await import('../keys/keyring.ts');
  const keyring = options.store === undefined ? await openKeys(context) : openKeyring(options.store);
  const { openSqliteJournal } = await import('../store/sqlite-journal.ts');
  const journal = await openSqliteJournal({ home, by: operator });
  try {
    const { createSigner } = await import('../store/log/signer.ts');
    const { watchJournal } = await import('../audit/seal.ts');
    // Told at the end: in between, a line on stderr would fall into the middle of the screen.
    const problems: LifeboatError[] = [];
    const sealer = watchJournal(journal, createSigner(await keyring.signingKey()), {
      home,
      folders: options.checkpoints ?? [],
      onProblem: (problem) => void problems.push(problem),
    });
    const close = async () => {
      sealer.stop();
      await journal.close();
      for (const shortMessage of new Set(problems.map((problem) => problem.shortMessage)))
        context.stderr.write(`warning: ${show(shortMessage)}\n`);
    };
    return { home, operator, journal, keyring, sealer, close };
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

/**
 * The same without a key store, for calls that need no key: its keys are looked for when one is asked for, and the ledger's head is not
 * signed before the next command that has the signing key.
 */
export async function openLedger(
  context: CommandContext,
  options: Pick<WorkspaceOptions, 'operator'> = {},
): Promise<Workspace> {
  const home = homeFolder(context.env);
  const operator = options.operator ?? loginName(context.env);
  const { openSqliteJournal } = await import('../store/sqlite-journal.ts');
  const journal = await openSqliteJournal({ home, by: operator });
  let opened: Promise<Keyring> | undefined;
  const keys = () => {
    opened ??= openKeys(context);
    return opened;
  };
  return {
    home,
    operator,
    journal,
    keyring: lateKeyring(keys),
    sealer: { sealNow: unsigned, flush: () => undefined, stop: () => undefined },
    close: () => journal.close(),
  };
}

/**
 * The key store that the environment asks for, with the keys of the instances in it: to be written to, so proven usable, unless it is
 * only looked into (`look`), where no disk has to be writable. Rejects with `keys.gone` where the home remembers keys and the store has none;
 * with `check` nobody is asked whether to begin anew.
 */
export async function openKeys(
  context: CommandContext,
  how: 'change' | 'look' | 'check' = 'change',
): Promise<Keyring> {
  const { chooseStore } = await import('../keys/choose-store.ts');
  const { openKeyring, rootsIn } = await import('../keys/keyring.ts');
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
  const store = await chooseStore({
    env: context.env,
    home,
    toRead: how === 'look',
    ...(context.stdin.isTTY === true
      ? { askPassphrase: (purpose: 'open' | 'create') => askPassphrase(purpose, context) }
      : {}),
  });
  const keyring = openKeyring(store);
  if (how === 'look') return keyring;
  if (!isAgreed && vault === undefined) {
    const roots = await rootsIn(store);
    const lost = { installationSecret: !roots.installationSecret, signingKey: !roots.signingKey };
    const here = { kind: store.kind, store: store.description, isThere: true };
    isAgreed = await refuseGone(context, home, { ...here, ...lost }, how === 'change');
  }
  // Both at once: the next process must not ask again.
  if (isAgreed) await Promise.all([keyring.signingKey(), keyring.fingerprint(new Secret('any'))]);
  return keyring;
}

/** A keyring that opens its store when it is first used. */
function lateKeyring(keys: () => Promise<Keyring>): Keyring {
  const store: KeyStore = {
    kind: 'os',
    description: 'the key store',
    probe: async () => (await keys()).store.probe(),
    put: async (account, secret) => (await keys()).store.put(account, secret),
    exchange: async (account, secret) => (await keys()).store.exchange(account, secret),
    get: async (account) => (await keys()).store.get(account),
    accounts: async () => (await keys()).store.accounts(),
    remove: async (account) => (await keys()).store.remove(account),
  };
  return {
    store,
    fingerprint: async (key) => (await keys()).fingerprint(key),
    add: async (instance, key) => (await keys()).add(instance, key),
    adopt: async (instance, fingerprint, key) => (await keys()).adopt(instance, fingerprint, key),
    load: async (instance, fingerprint) => (await keys()).load(instance, fingerprint),
    list: async (instance) => (await keys()).list(instance),
    remove: async (instance, fingerprint) => (await keys()).remove(instance, fingerprint),
    signingKey: async () => (await keys()).signingKey(),
  };
}

function unsigned(): Promise<never> {
  return Promise.reject(new Error('a ledger without keys cannot be signed'));
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
  if (purpose === 'open') return askHidden('passphrase of the vault', context);
  return askHidden('a new passphrase for the vault, 12 characters or more', context, { twice: true });
}
