import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { timeLimit } from '../base/time-limit.ts';
import type { CommandContext } from '../cli/context.ts';
import { isPostgres } from '../config/store-address.ts';
import { storeNamed } from '../config/store-named.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { keyringFiles, keyringFolder } from '../keys/keyring-files.ts';
import { typedLine } from '../plain/ask.ts';
import { canAsk } from '../plain/terminal.ts';
import { namesKeys } from '../store/projections/ledgers.ts';
import { openJournalIfAny } from './store-of.ts';

interface Remembered {
  /** A ledger names keys, so there was an installation secret. */
  readonly keys: boolean;
  /** Heads were signed, so there was a signing key. */
  readonly heads: boolean;
}

/** What a person types to begin again anyway. */
const WORDS = 'begin without the old keys';

interface Missing {
  readonly kind: KeyStore['kind'];
  /** The store for a person, such as `OS keychain`; of a vault that is not there, its path. */
  readonly store: string;
  readonly isThere: boolean;
  readonly installationSecret: boolean;
  readonly signingKey: boolean;
}

/**
 * Rejects with `keys.gone` if the home remembers something in `missing`: a new key store would look as if
 * there had never been other keys, and earlier fingerprints and signatures could no longer be checked. A
 * person at a terminal may agree to a new one; resolves to whether they did.
 */
export async function assertKeysPresent(
  context: CommandContext,
  home: string,
  missing: Missing,
  mayAsk: boolean,
): Promise<boolean> {
  const { keys, heads } = await rememberedBy(context, home);
  if (!(missing.installationSecret && keys) && !(missing.signingKey && heads)) return false;
  const gone = new LifeboatError('keys.gone', lackOf(missing, keys), {
    hints: [
      `nothing was written: ${whereElse(context.env, home, missing)}`,
      'without them the backups made with those keys cannot be opened',
      `to create a new key store on purpose, run this command in a terminal and type: ${WORDS}`,
    ],
    exitCode: EXIT.failed,
  });
  // On a screen this is not asked.
  if (context.screen !== undefined) throw gone;
  if (!mayAsk || !canAsk(context)) throw gone;
  context.stderr.write(`${show(gone.shortMessage)}\n`);
  for (const hint of gone.hints.slice(0, 2)) context.stderr.write(`  ${show(hint)}\n`);
  const prompt = `type "${WORDS}" to create a new key store; anything else leaves: `;
  const typed = await typedLine(context, prompt, timeLimit(PATIENCE_MS));
  if (typed?.trim() === WORDS) return true;
  throw gone;
}

/** Only what is known: a lost store looks like one that was never used. */
function lackOf({ store, isThere }: Missing, keys: boolean): string {
  if (!isThere)
    return `there is no vault file ${store}, and the journal ${keys ? 'names keys' : 'was signed with a key'}`;
  return `the ${store} does not hold the key${keys ? 's that the journal names' : ' that signed the journal'}`;
}

function whereElse(env: NodeJS.ProcessEnv, home: string, { kind, isThere }: Missing): string {
  const vault = vaultIn(home);
  const [broken] = keyringFiles(keyringFolder(env)).filter(({ brokenAt }) => brokenAt !== undefined);
  if (kind === 'os' && broken !== undefined)
    return `they may be in ${show(broken.path, 200)}, which cannot be read: \`lifeboat doctor\` says what to do`;
  if (kind === 'os')
    return existsSync(vault)
      ? `they may be in the vault file ${show(vault, 200)}: write \`keyStore: vault\` into lifeboat.yaml`
      : 'they may be in a vault file (`keyStore: vault`), or in the keychain of another user';
  const copy = isThere
    ? 'put another vault file back from a copy'
    : 'put the vault file back from a copy if there was one';
  return `they may be in the OS keychain (\`keyStore: os\`); ${copy}`;
}

function vaultIn(home: string): string {
  return join(home, 'vault.age');
}

const PATIENCE_MS = 10 * 60_000;

export function missingVault(env: NodeJS.ProcessEnv, home: string): string | undefined {
  const path = vaultIn(home);
  return env['LIFEBOAT_KEYCHAIN'] === 'vault' && !existsSync(path) ? path : undefined;
}

/** A journal that cannot be read remembers nothing here; the writer reports that first. */
async function rememberedBy(context: CommandContext, home: string): Promise<Remembered> {
  const heads = namesIn(join(home, 'checkpoints')).some((name) => name.endsWith('.pub'));
  try {
    // A team's store names everyone's keys: a new member lost nothing.
    if (isPostgres(await storeNamed(context.env, context.configPath))) return { keys: false, heads };
    // Without a stderr: the writer checks the checkpoints itself.
    const { env, configPath } = context;
    const journal = await openJournalIfAny({ env, configPath });
    if (journal === undefined) return { keys: false, heads };
    try {
      return { keys: await namesKeys(journal), heads };
    } finally {
      await journal.close();
    }
  } catch {
    return { keys: false, heads };
  }
}
