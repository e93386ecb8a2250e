import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openKeys } from '../bench-kit/key-store.ts';
import { PARAMETER } from '../bench-kit/platform-bench.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { count } from './figures.ts';
import { type Watched, watchOver } from './watched.ts';

const KEPT = 'backups/bindings/';

/**
 * Samples what is started, and looks everywhere at the end: for these secrets, every key that there ever was,
 * and the one that signs. `environment` is a secret that the person gives to programs by their environment.
 */
export async function lookedAfter(
  bench: TestBench,
  secrets: readonly string[],
  work: (watched: Watched) => Promise<void>,
  environment?: string,
): Promise<void> {
  let all = 0;
  const held = async () => {
    const keys = [...bench.server.keys, ...(await bench.vault()).values(), ...(await signing(bench))];
    all = secrets.length + keys.length;
    await rm(join(bench.folder, 'home/vault.age'), { force: true });
    return keys;
  };
  const { found, looks } = await watchOver(bench, { known: secrets, held, folders: ['home'] }, work);
  // What a binding was made with is kept for as long as it is to be made again, readable by its owner alone.
  const kept = found.filter((leak) => leak.startsWith(KEPT));
  for (const leak of kept) {
    const path = join(bench.folder, 'home', leak.replace(/: secret .*$/u, ''));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(leak).toContain(`secret ${secrets.indexOf(PARAMETER)}`);
  }
  const given = new RegExp(`environment of \\d+: secret ${secrets.indexOf(environment ?? '')},`, 'u');
  expect(found.filter((leak) => !kept.includes(leak) && !given.test(leak))).toEqual([]);
  count('secrets', { secrets: all, 'outputs and processes': looks, leaks: 0 });
}

/** PKCS#8 begins each ed25519 key with the same 16 bytes, some of which begin each public key too. */
const SAME = 22;

/** The private key of the installation, as it stands in the vault. */
async function signing({ home }: TestBench): Promise<readonly string[]> {
  const pem = (await (await openKeys(home)).signingKey()).reveal();
  const [key = ''] = pem.split('\n').filter((line) => line.startsWith('MC4CAQ'));
  expect(key.length).toBe(64);
  return [key.slice(SAME)];
}
