import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { checkItem, isStored, type KeyStore, listed, MIN_PASSPHRASE } from './key-store.ts';
import { withLock } from './lock.ts';
import { ensurePrivateFolder, readPrivateFile, replacePrivateFile } from './private-file.ts';
import { openItems, sealItems, WORK_FACTOR } from './vault-format.ts';

interface VaultOptions {
  /** Created with the first item. Beside it is `<path>.lock`, which is always empty. */
  readonly path: string;
  /** Called once per process and after a wrong answer. `create`: ask twice, for at least 12 characters. */
  readonly passphrase: (purpose: 'open' | 'create') => Promise<Secret>;
  /** Base-2 logarithm of scrypt's N for writing. Default 17; lower only in tests. */
  readonly workFactor?: number;
}

const VAULT_FILE = { name: 'vault file', mayBeLinkOrPipe: false };

/**
 * The vault file as a key store. Unlocked at the first use and kept open in memory; the file is checked
 * before every answer and, under a lock between processes, before every write, so that processes never lose
 * each other's items. After a crash the old file or the new one is there whole. Unlocking and each write take
 * about 0.3 s of another thread (scrypt).
 *
 * Codes: those of `KeyStore`, and `keys.weak-passphrase`.
 */
export async function openVault(options: VaultOptions): Promise<KeyStore> {
  const vault = new Vault(options);
  await readPrivateFile(options.path, VAULT_FILE);
  return vault;
}

class Vault implements KeyStore {
  readonly kind = 'vault';
  readonly description: string;
  readonly #options: VaultOptions;
  #passphrase: Secret | undefined;
  /** The source of `#items`: unchanged bytes need no second scrypt. */
  #sealed: Buffer | undefined;
  #items: ReadonlyMap<string, Secret> = new Map();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: VaultOptions) {
    this.#options = options;
    this.description = `vault file ${show(options.path)}`;
  }

  /** Unlocks, then writes and removes a small file beside the vault: writing the vault costs two scrypts. */
  probe(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#unlock();
      const folder = dirname(this.#options.path);
      await ensurePrivateFolder(folder);
      const probe = join(folder, `probe-${randomBytes(8).toString('hex')}`);
      await replacePrivateFile(probe, randomBytes(16));
      await rm(probe, { force: true });
    });
  }

  put(account: string, secret: Secret): Promise<void> {
    return this.#inTurn(async () => {
      checkItem(account, secret);
      await this.#change((items) => {
        if (isStored(account, secret, items.get(account))) return false;
        items.set(account, secret);
        return true;
      });
    });
  }

  putAll(more: ReadonlyMap<string, Secret>): Promise<void> {
    return this.#inTurn(async () => {
      for (const [account, secret] of more) checkItem(account, secret);
      await this.#change((items) => {
        const missing = [...more].filter(
          ([account, secret]) => !isStored(account, secret, items.get(account)),
        );
        for (const [account, secret] of missing) items.set(account, secret);
        return missing.length > 0;
      });
    });
  }

  changePassphrase(ask: () => Promise<Secret>): Promise<void> {
    return this.#inTurn(async () => {
      const { path } = this.#options;
      await this.#refresh();
      if (this.#sealed === undefined) throw noVaultYet(path);
      const next = await ask();
      assertStrong(next);
      await withLock(`${path}.lock`, async () => {
        await this.#write(await this.#refresh(), next);
        this.#passphrase = next;
      });
    });
  }

  exchange(account: string, secret: Secret): Promise<void> {
    return this.#inTurn(async () => {
      checkItem(account, secret);
      await this.#change((items) => {
        if (items.get(account)?.equals(secret) === true) return false;
        items.set(account, secret);
        return true;
      });
    });
  }

  get(account: string): Promise<Secret | undefined> {
    return this.#inTurn(async () => (await this.#refresh()).get(account));
  }

  accounts(): Promise<readonly string[]> {
    return this.#inTurn(async () => listed((await this.#refresh()).keys()));
  }

  remove(account: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const items = await this.#refresh();
      return items.has(account) && this.#change((fresh) => fresh.delete(account));
    });
  }

  /** In this process, so that the passphrase is asked for once. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** A vault that does not exist yet is empty and needs no passphrase. */
  async #refresh(): Promise<ReadonlyMap<string, Secret>> {
    const { path } = this.#options;
    const bytes = await readPrivateFile(path, VAULT_FILE, this.#sealed);
    if (bytes === undefined) {
      if (this.#sealed !== undefined) throw gone(path);
      return this.#items;
    }
    if (bytes === this.#sealed) return this.#items;
    const passphrase = this.#passphrase ?? (await this.#ask('open'));
    this.#passphrase = undefined;
    this.#items = await openItems(bytes, passphrase, path);
    this.#sealed = bytes;
    this.#passphrase = passphrase;
    return this.#items;
  }

  async #unlock(): Promise<Secret> {
    await this.#refresh();
    this.#passphrase ??= await this.#ask('create');
    return this.#passphrase;
  }

  async #ask(purpose: 'open' | 'create'): Promise<Secret> {
    const passphrase = await this.#options.passphrase(purpose);
    if (purpose === 'create') assertStrong(passphrase);
    if (passphrase.length > 0) return passphrase;
    throw new LifeboatError('keys.empty-passphrase', 'the passphrase of the vault file is empty', {
      hints: ['nothing was changed', 'give a passphrase of several words'],
    });
  }

  /** `edit` returns whether it changed anything. Asks for the passphrase before it locks: people are slow. */
  async #change(edit: (items: Map<string, Secret>) => boolean): Promise<boolean> {
    const { path } = this.#options;
    await this.#unlock();
    await ensurePrivateFolder(dirname(path));
    return withLock(`${path}.lock`, async () => {
      const passphrase = await this.#unlock();
      const items = new Map(this.#items);
      if (!edit(items)) return false;
      await this.#write(items, passphrase);
      return true;
    });
  }

  /** Under the lock. A new passphrase takes effect only with a file that was seen to open. */
  async #write(items: ReadonlyMap<string, Secret>, passphrase: Secret): Promise<void> {
    const { path, workFactor = WORK_FACTOR } = this.#options;
    const sealed = await sealItems(items, passphrase, workFactor);
    const isSame = passphrase === this.#passphrase;
    await replacePrivateFile(path, sealed, async (written) => {
      if (!written.equals(sealed)) throw notKept(path);
      if (!isSame) await openItems(written, passphrase, path);
    });
    const kept = await readPrivateFile(path, VAULT_FILE);
    if (!kept?.equals(sealed)) throw notKept(path);
    this.#sealed = sealed;
    this.#items = items;
  }
}

function assertStrong(passphrase: Secret): void {
  const { length } = Array.from(passphrase.reveal().trim());
  if (passphrase.length === 0 || length >= MIN_PASSPHRASE) return;
  throw new LifeboatError(
    'keys.weak-passphrase',
    `the passphrase of a new vault file has to have ${MIN_PASSPHRASE} characters or more`,
    { hints: ['nothing was written', 'five words drawn at random are good; it may be as long as you like'] },
  );
}

function noVaultYet(path: string): LifeboatError {
  return new LifeboatError('keys.no-vault', `there is no vault file ${show(path)} yet`, {
    hints: ['nothing was changed', 'the first key that is stored asks for the passphrase of a new one'],
  });
}

function gone(path: string): LifeboatError {
  return new LifeboatError(
    'keys.gone',
    `the vault file ${show(path)} has disappeared while lifeboat was using it`,
    {
      hints: [
        'nothing was written: put the file back',
        'a new vault file is made only by a process that saw no old one',
      ],
    },
  );
}

function notKept(path: string): LifeboatError {
  return new LifeboatError(
    'keys.not-kept',
    `the vault file ${show(path)} does not hold what was written to it`,
    {
      hints: [
        'do not use the key that was being stored',
        'check the disk, and what else writes to this file',
      ],
    },
  );
}
