import { equal } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { type InstalledUser, installedUser } from './installed-user.ts';
import { tryInstalled } from './try-installed.ts';

/*
 * `npm run test:packages`: makes everything that can be installed, and has a user who owns nothing install
 * each, use it and remove it. Root is not needed; with it the user is another one. The Debian package is
 * installed for real only by root with `CI` set, and unpacked elsewhere.
 */
const ROOT = resolve(import.meta.dirname, '../..');
/** What the npm package may need with all that it brings along, without the lab. */
const MAX_BYTES = 10 * 2 ** 20;

const scratch = mkdtempSync(join(tmpdir(), 'lifeboat-packages-'));
chmodSync(scratch, 0o755);
const release = join(scratch, 'release');
const env = {
  npm_config_registry: process.env['npm_config_registry'] ?? registry(),
  TMPDIR: tmpdir(),
  LIFEBOAT_KEYCHAIN: 'vault',
  LIFEBOAT_PASSPHRASE_FILE: 'passphrase',
};
try {
  execFileSync(process.execPath, [join(ROOT, 'build/package.ts'), release], { stdio: 'inherit' });
  billsNameTheParts();
  // They wait for the service more than they compute.
  await Promise.all([
    attempt('the npm package', npmPackage),
    attempt('the single executable', singleExecutable),
    ...(made('.deb') === undefined ? [] : [attempt('the Debian package', debianPackage)]),
  ]);
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

async function attempt(name: string, attempted: (user: InstalledUser) => Promise<void>): Promise<void> {
  const began = performance.now();
  try {
    await attempted(installedUser(scratch, attempted.name, env));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`ok ${name}: installed, used, removed (${seconds} s)\n`);
  } catch (thrown) {
    process.stdout.write(`FAILED ${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exitCode = 1;
  }
}

async function npmPackage(user: InstalledUser): Promise<void> {
  const prefix = join(user.home, 'prefix');
  const npm = async (...words: readonly string[]) => {
    const { code, stderr } = await user.run('npm', ...words, '--global', '--prefix', prefix);
    equal(code, 0, stderr);
  };
  await npm('install', made('.tgz') ?? '');
  const bytes = sizeOf(prefix);
  if (bytes > MAX_BYTES) throw new Error(`it takes ${bytes} bytes`);
  if (!existsSync(join(prefix, 'share/man/man1/lifeboat.1'))) throw new Error('it has no man page');
  await tryInstalled(user, join(prefix, 'bin/lifeboat'), join(scratch, 'service-npm'));
  await npm('uninstall', 'lifeboat');
  equal(sizeOf(prefix), 0);
}

async function singleExecutable(user: InstalledUser): Promise<void> {
  const { code, stderr } = await user.run('tar', '--extract', '--file', made('.tar.gz') ?? '');
  equal(code, 0, stderr);
  const [folder = ''] = readdirSync(user.home).filter((name) => name.startsWith('lifeboat-'));
  await tryInstalled(user, join(user.home, folder, 'lifeboat'), join(scratch, 'service-single'));
}

async function debianPackage(user: InstalledUser): Promise<void> {
  const file = made('.deb') ?? '';
  const known = spawnSync('dpkg', ['--status', 'lifeboat']).status === 0;
  if (process.getuid?.() !== 0 || !process.env['CI'] || known) {
    const { code, stderr } = await user.run('dpkg-deb', '--extract', file, 'unpacked');
    equal(code, 0, stderr);
    await tryInstalled(user, join(user.home, 'unpacked/usr/bin/lifeboat'), join(scratch, 'service-deb'));
    return;
  }
  try {
    execFileSync('dpkg', ['--install', file], { stdio: ['ignore', 'ignore', 'inherit'] });
    for (const path of ['docs/troubleshooting.md', 'runbooks/rotate-key.md', 'schemas/status.json'])
      equal(existsSync(join('/usr/share/doc/lifeboat', path)), true, path);
    await tryInstalled(user, '/usr/bin/lifeboat', join(scratch, 'service-deb'));
  } finally {
    execFileSync('dpkg', ['--purge', 'lifeboat'], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  equal(existsSync('/usr/lib/lifeboat'), false);
  equal(existsSync('/usr/share/doc/lifeboat'), false);
  // No drill was run and no worker started, so nothing is left that would need their users.
  equal(/^lifeboat-(?:drill|worker|serve):/m.test(readFileSync('/etc/passwd', 'utf8')), false);
}

/** Beside each package: what is in it, by name and version; the runtime where it brings one. */
function billsNameTheParts(): void {
  for (const name of readdirSync(release).filter((each) => /\.(?:tgz|deb|tar\.gz)$/u.test(each))) {
    const bill = JSON.parse(readFileSync(join(release, `${name}.cdx.json`), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string }[];
    };
    equal(bill.bomFormat, 'CycloneDX');
    const parts = bill.components.map((part) => part.name);
    for (const part of ['xstate', 'ink', 'keytar']) equal(parts.includes(part), true, part);
    equal(parts.includes('node'), !name.endsWith('.tgz'), name);
    equal(parts.includes('vitest'), false);
  }
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: release, stdio: 'inherit' });
}

/** The file with this ending among what was made. */
function made(ending: string): string | undefined {
  const name = readdirSync(release).find((each) => each.endsWith(ending));
  return name === undefined ? undefined : join(release, name);
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** The one that this checkout is installed from. */
function registry(): string {
  return execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
