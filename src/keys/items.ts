import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { RESERVED_ACCOUNT_PREFIX } from './key-store.ts';

const MAX_ACCOUNT = 200;

/** Accounts of probe items. A process that dies inside a probe leaves one behind; no store lists them. */
export const PROBE_PREFIX = `${RESERVED_ACCOUNT_PREFIX}probe-`;

/**
 * Refuses what not every store can give back as it was: account names that are not `<owner>/<name>` in
 * printable text (`keys.bad-account`), empty secrets (`keys.empty`: no keychain takes them), and NUL or lone
 * surrogates (`keys.unstorable`: keychains end a text at NUL and store UTF-8).
 */
export function checkItem(account: string, secret: Secret): void {
  const [owner, ...name] = account.split('/');
  if (!owner || !name.join('') || account.length > MAX_ACCOUNT || show(account, MAX_ACCOUNT) !== account) {
    throw new LifeboatError('keys.bad-account', `${show(account)} is not a name for an item in a key store`, {
      hints: [
        `names are <instance>/<fingerprint>, printable, no longer than ${String(MAX_ACCOUNT)} characters`,
      ],
    });
  }
  const text = secret.reveal();
  if (text === '') {
    throw new LifeboatError('keys.empty', 'an empty secret cannot be stored', {
      hints: ['nothing was written', 'give the key itself'],
    });
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new LifeboatError('keys.unstorable', 'the secret holds characters that a keychain cannot keep', {
      hints: ['nothing was written', 'keys are text without NUL characters and broken surrogate pairs'],
    });
  }
}

/**
 * Nothing is ever overwritten: an item with the same value is fine (`true`), with another one `keys.exists`.
 */
export function isStored(account: string, secret: Secret, stored: Secret | undefined): boolean {
  if (stored === undefined) return false;
  if (stored.equals(secret)) return true;
  throw new LifeboatError('keys.exists', `${account} is already stored with another value`, {
    hints: ['nothing was overwritten: the stored value is still there'],
    evidence: { account },
  });
}

/** What a list of items shows: sorted, without probe items. */
export function listed(accounts: Iterable<string>): readonly string[] {
  return [...accounts].filter((account) => !account.startsWith(PROBE_PREFIX)).sort();
}
