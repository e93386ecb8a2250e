import { deepEqual, equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import packageJson from '../../package.json' with { type: 'json' };
import { startForeignServer } from '../bench-kit/foreign/server.ts';
import type { InstalledUser, Ran } from './installed-user.ts';

/**
 * What a person does with a new installation whose command is `lifeboat`: looks at it, adds a key, rotates it
 * at a service that a stranger wrote, and takes the evidence along. Rejects with what went wrong. `folder` is
 * for the service.
 */
export async function tryInstalled(user: InstalledUser, lifeboat: string, folder: string): Promise<void> {
  const succeed = async (...words: readonly string[]) => succeeded(await user.run(lifeboat, ...words), words);
  const version = JSON.parse((await succeed('version', '-o', 'json')).stdout) as {
    readonly version: string;
  };
  equal(version.version, packageJson.version);
  match((await succeed('schema', 'runs')).stdout, /"lifeboat\.runs\/1"/);
  await keychainWorks(user, lifeboat);
  mkdirSync(folder);
  const [token, key] = [secret(), secret()];
  const server = await startForeignServer({ revision: 62, folder, token, key, taskMs: 200 });
  try {
    user.give('token', token);
    user.give('old-key', key);
    user.give('passphrase', secret());
    user.give(
      'lifeboat.yaml',
      `operator: { name: Robin }
platform: none
instances:
  orders: { url: '${server.urlOf('orders')}', revision: 62, token: { file: ./token }, inFlight: 1s }
`,
    );
    await succeed('keys', 'add', 'orders', '--file', 'old-key');
    match((await succeed('doctor')).stdout, /^ok +config/m);
    const rotated = await succeed('run', 'rotate-key', '-i', 'orders', '--yes', '--confirm', 'orders');
    match(rotated.stdout, /the key is rotated and proven/);
    equal(server.keys.length, 2);
    match((await succeed('audit', 'verify')).stdout, /entries in \d+ streams: intact/);
    await succeed('audit', 'export', 'last', '--out', 'evidence.tar');
    await evidenceIsWhole(user);
  } finally {
    await server.close();
  }
}

/** The verifier, the reports and the list of packages are files that the program brings along. */
async function evidenceIsWhole(user: InstalledUser): Promise<void> {
  const tar = (...words: readonly string[]) => user.run('tar', '--file', 'evidence.tar', ...words);
  succeeded(await tar('--extract', '--one-top-level=evidence'), ['tar']);
  const verified = await user.run('node', join('evidence', 'verify.mjs'), 'evidence');
  // Nothing is pinned by an anchor or a key.
  deepEqual([verified.code, verified.stderr], [3, '']);
  const tools = succeeded(await user.run('cat', join('evidence', 'tools.json')), ['cat']).stdout;
  match(tools, /"xstate":"\d/);
}

/** Its own programs, a bus and a keyring, which end with it. */
async function keychainWorks(user: InstalledUser, lifeboat: string): Promise<void> {
  const programs = ['dbus-run-session', 'gnome-keyring-daemon'];
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length > 0) {
    if (process.env['CI']) throw new Error(`not installed: ${missing.join(', ')}`);
    process.stdout.write(`   the keychain is not tried: ${missing.join(', ')} not installed\n`);
    return;
  }
  const script = `printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null
LIFEBOAT_KEYCHAIN=os "$0" doctor`;
  const { stdout, stderr } = await user.run('dbus-run-session', '--', 'sh', '-c', script, lifeboat);
  match(stdout, /^ok +key store/m, `${stdout}\n${stderr}`);
}

function succeeded(ran: Ran, words: readonly string[]): Ran {
  equal(ran.code, 0, `${words.join(' ')}\n${ran.stdout}\n${ran.stderr}`);
  return ran;
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
