import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { unpackFiles } from '../../src/audit/bundle/pack.ts';

/*
 * Makes the samples of docs/samples again: the report of a recovery on a lab, its bundle, and the public key
 * that an auditor would have got beforehand. `npm run samples`. They name the user, the host and the folder
 * that they were made by and in: give them a user and a host of their own, and SAMPLES_IN.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const SAMPLES = join(ROOT, 'docs', 'samples');
const folder = process.env['SAMPLES_IN'] ?? mkdtempSync(join(tmpdir(), 'lifeboat-samples-'));
const home = join(folder, 'home');
const config = join(folder, 'lifeboat.yaml');
const passphrase = join(folder, 'passphrase');
const env = {
  ...process.env,
  HOME: folder,
  LIFEBOAT_HOME: home,
  LIFEBOAT_CONFIG: config,
  LIFEBOAT_KEYCHAIN: 'vault',
  LIFEBOAT_PASSPHRASE_FILE: passphrase,
};
const program = [join(ROOT, 'dist', 'cli.js')];
const lifeboat = (...args: string[]) =>
  execFileSync(process.execPath, [...program, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
/** The same where an open follow-up is left. */
const upToFollowUp = (...args: string[]) => {
  try {
    lifeboat(...args);
  } catch (error) {
    if ((error as { status?: number }).status !== 3) throw error;
  }
};

mkdirSync(home, { recursive: true, mode: 0o700 });
writeFileSync(passphrase, 'of a sample, and of nothing else', { mode: 0o600 });
const lab = spawn(process.execPath, [...program, 'lab'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const lines: string[] = [];
  for await (const line of createInterface({ input: lab.stdout })) {
    lines.push(line);
    // The last line of the second instance.
    if (lines.filter((one) => one.includes('reconcile:')).length === 2) break;
  }
  writeFileSync(config, `${lines.join('\n')}\n`);
  const [, keyFile = ''] = /keys add orders --file (\S+)/u.exec(lines.join('\n')) ?? [];
  lifeboat('keys', 'add', 'orders', '--file', keyFile);
  // Without it the backup that the recovery ends with could not be opened.
  lifeboat('backup-config', 'set', '--instance', 'orders-dr', '--new-key', '--yes', '--confirm', 'orders-dr');
  lifeboat('run', 'disaster-recovery', 'orders', '--prepare', '--yes');
  upToFollowUp(
    'run',
    'disaster-recovery',
    'orders',
    '--target',
    'orders-dr',
    '--perform',
    '--yes',
    '--confirm',
    'orders-dr',
  );
  lifeboat('followups', 'done', 'remove-target', '--proof', 'the lab is gone with its instances');
  mkdirSync(SAMPLES, { recursive: true });
  lifeboat('audit', 'export', 'last', '--out', join(folder, 'bundle.tar'));
  const bundle = readFileSync(join(folder, 'bundle.tar'));
  writeFileSync(join(SAMPLES, 'bundle.tar'), bundle);
  writeFileSync(join(SAMPLES, 'report.html'), unpackFiles(bundle).files.get('report.html') ?? '');
  writeFileSync(join(SAMPLES, 'lifeboat.pub'), lifeboat('audit', 'key'));
} finally {
  lab.kill('SIGINT');
  await once(lab, 'close');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.stdout.write(`made anew: ${SAMPLES}, ${readFileSync(join(SAMPLES, 'bundle.tar')).length} bytes\n`);
