import { existsSync, mkdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openVault } from '../../src/keys/vault.ts';
import { Secret } from '../../src/secret.ts';
import { CANARIES, type House } from '../e2e/house.ts';
import { leaksInFolder, leaksInProcesses } from '../e2e/leaks.ts';
import { watchTree } from '../e2e/process-tree.ts';
import type { Ended } from '../e2e/product.ts';
import { PARAMETER } from '../e2e/stranger.ts';
import { count } from './figures.ts';
import { piecesIn } from './pieces.ts';

const KEPT = 'backups/bindings/';

/** Everything that tells of a run afterwards. What is written goes where it is looked at: `OUT` stands for a new file, `BUNDLE` for the bundle. */
export const TELLING: readonly (readonly string[])[] = [
  ...['md', 'html', 'json'].map((format) => ['report', '--format', format]),
  ['audit', 'show'],
  ['audit', 'show', '--json'],
  ['audit', 'export', '--out', 'BUNDLE'],
  ['audit', 'verify', 'BUNDLE'],
  ['audit', 'export', '--lines'],
  ['audit', 'verify'],
  ['keys', 'list'],
  ['runs'],
  ['owe'],
  ['approvals'],
];

/** Runs a command and looks at everything that it starts; `hears` takes what was said elsewhere. */
export type Watched = ((...args: string[]) => Promise<Ended>) & { readonly hears: (text: string) => void };

/** Samples what is started, and looks everywhere at the end: for these secrets, every key that there ever was, and the one that signs. */
export async function lookedAfter(
  house: House,
  secrets: readonly string[],
  work: (watched: Watched) => Promise<void>,
): Promise<void> {
  const temporary = join(house.folder, 'tmp');
  mkdirSync(temporary);
  Object.assign(house.env, { TMPDIR: temporary });
  const said: string[] = [];
  const found: string[] = [];
  let processes = 0;
  const watched = async (...args: string[]) => {
    const out = join(temporary, `told-${said.length}`);
    const places: Readonly<Record<string, string>> = { OUT: out, BUNDLE: join(temporary, 'bundle.tar') };
    const running = house.start(...args.map((word) => places[word] ?? word));
    const watch = watchTree(running.child.pid ?? 0);
    const end = await running.ended;
    watch.stop();
    said.push(end.stdout, end.stderr);
    const own = running.child.pid;
    const mine = watch.seen().find(({ pid }) => pid === own)?.cmdline;
    // Its own environment is what it was given, and for a moment that of a child which is not another program yet; of what it starts,
    // nothing may have the token.
    const others = watch.seen().map((seen) => (seen.cmdline === mine ? { ...seen, environ: '' } : seen));
    processes += new Set(others.map(({ pid }) => pid)).size;
    found.push(...leaksInProcesses(others, secrets).map((leak) => `${args.join(' ')}: ${leak}`));
    return end;
  };
  await work(Object.assign(watched, { hears: (text: string) => void said.push(text) }));
  const all = [
    ...secrets,
    ...house.server.keys,
    ...(await house.vault()).values(),
    ...(await signing(house)),
  ];
  found.push(...piecesIn('the output', said.join('\n'), all));
  await rm(join(house.folder, 'home/vault.age'), { force: true });
  const folders = ['home', 'tmp', 'compiled'].map((name) => join(house.folder, name));
  for (const folder of folders.filter(existsSync)) found.push(...leaksInFolder(folder, all));
  // What a binding was made with is kept for as long as it is to be made again, readable by its owner alone.
  const kept = found.filter((leak) => leak.startsWith(KEPT));
  for (const leak of kept) {
    const path = join(house.folder, 'home', leak.replace(/: secret .*$/u, ''));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(leak).toContain(`secret ${secrets.indexOf(PARAMETER)}`);
  }
  expect(found.filter((leak) => !kept.includes(leak))).toEqual([]);
  count('secrets', { secrets: all.length, 'outputs and processes': said.length + processes, leaks: 0 });
}

/** The private key of the installation, line by line, as it stands in the vault. */
async function signing({ home }: House): Promise<readonly string[]> {
  const passphrase = async () => new Secret(CANARIES.passphrase);
  const vault = await openVault({ path: join(home, 'vault.age'), passphrase, workFactor: 1 });
  const pem = (await openKeyring(vault).signingKey()).reveal();
  return pem.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'));
}
