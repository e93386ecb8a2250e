import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import packageJson from '../package.json' with { type: 'json' };
import { ROOT } from './bundles.ts';

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** As Debian's own tools ask for it; a package needs one. */
const { DEBFULLNAME = 'The Lifeboat authors', DEBEMAIL = 'lifeboat@localhost' } = process.env;

/**
 * Makes a Debian package, in the folder `out`, from the folder of a single executable. Its files are root's.
 * Gives its path. Needs `dpkg-deb`.
 */
export function makeDebianPackage(single: string, out: string): string {
  const root = mkdtempSync(join(tmpdir(), 'lifeboat-deb-'));
  try {
    for (const [to, from] of Object.entries(filesOf(single))) put(root, to, from);
    mkdirSync(join(root, 'usr/bin'));
    symlinkSync('../lib/lifeboat/lifeboat', join(root, 'usr/bin/lifeboat'));
    const program = join(root, 'usr/lib/lifeboat/lifeboat');
    const files = filesBelow(root);
    for (const path of files) {
      chmodSync(dirname(path), 0o755);
      chmodSync(path, path === program ? 0o755 : 0o644);
    }
    chmodSync(root, 0o755);
    writeControl(root, files);
    const file = join(out, `lifeboat_${packageJson.version}_${architecture()}.deb`);
    // A higher level takes ten times as long and saves a seventh.
    const options = ['--root-owner-group', '-Zxz', '-z1'];
    execFileSync('dpkg-deb', [...options, '--build', root, file], { stdio: ['ignore', 'ignore', 'inherit'] });
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The folders of what is there to be read, without Internet. */
export const DOCUMENTS = ['docs', 'runbooks', 'schemas'] as const;

/** Where each file or folder goes: a path to copy, or the content itself. */
function filesOf(single: string): Readonly<Record<string, string | Buffer>> {
  const packaging = join(ROOT, 'packaging');
  const completion = (shell: string) => join(single, 'completions', `lifeboat.${shell}`);
  const unit = (name: string) => join(packaging, 'systemd', name);
  const doc = 'usr/share/doc/lifeboat';
  return {
    'usr/lib/lifeboat/lifeboat': join(single, 'lifeboat'),
    'usr/lib/lifeboat/keytar.node': join(single, 'keytar.node'),
    'usr/share/man/man1/lifeboat.1.gz': zipped(join(ROOT, 'man/lifeboat.1')),
    'usr/share/bash-completion/completions/lifeboat': completion('bash'),
    'usr/share/zsh/vendor-completions/_lifeboat': completion('zsh'),
    'usr/share/fish/vendor_completions.d/lifeboat.fish': completion('fish'),
    'usr/lib/systemd/system/lifeboat-drill.service': unit('lifeboat-drill.service'),
    'usr/lib/systemd/system/lifeboat-drill.timer': unit('lifeboat-drill.timer'),
    'usr/lib/sysusers.d/lifeboat-drill.conf': unit('lifeboat-drill.sysusers'),
    'usr/lib/systemd/system/lifeboat-worker.service': unit('lifeboat-worker.service'),
    'usr/lib/sysusers.d/lifeboat-worker.conf': unit('lifeboat-worker.sysusers'),
    'usr/lib/systemd/system/lifeboat-serve.service': unit('lifeboat-serve.service'),
    'usr/lib/sysusers.d/lifeboat-serve.conf': unit('lifeboat-serve.sysusers'),
    [`${doc}/examples/lifeboat-drill.cron`]: unit('lifeboat-drill.cron'),
    ...Object.fromEntries(DOCUMENTS.map((name) => [`${doc}/${name}`, join(ROOT, name)])),
    'usr/share/lintian/overrides/lifeboat': join(packaging, 'debian/lintian-overrides'),
    [`${doc}/copyright`]: Buffer.from(copyright()),
    [`${doc}/changelog.gz`]: gzipSync(changelog(), { level: 9 }),
    [`${doc}/NEWS.md.gz`]: zipped(join(ROOT, 'CHANGELOG.md')),
    [`${doc}/THIRD-PARTY-LICENSES.gz`]: zipped(join(single, 'THIRD-PARTY-LICENSES')),
  };
}

function put(root: string, to: string, from: string | Buffer): void {
  const path = join(root, to);
  mkdirSync(dirname(path), { recursive: true });
  if (typeof from === 'string') cpSync(from, path, { recursive: true });
  else writeFileSync(path, from);
}

function zipped(path: string): Buffer {
  return gzipSync(readFileSync(path), { level: 9 });
}

/** What dpkg reads: the description, the sums of the files, and the scripts. */
function writeControl(root: string, files: readonly string[]): void {
  const folder = join(root, 'DEBIAN');
  mkdirSync(folder, { mode: 0o755 });
  const kib = Math.ceil(files.reduce((sum, path) => sum + statSync(path).size, 0) / 1024);
  writeFileSync(join(folder, 'control'), control(kib), { mode: 0o644 });
  const sums = files.map((path) => {
    const sum = createHash('md5').update(readFileSync(path)).digest('hex');
    return `${sum}  ${relative(root, path)}\n`;
  });
  writeFileSync(join(folder, 'md5sums'), sums.join(''), { mode: 0o644 });
  for (const script of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(ROOT, 'packaging/debian', script), join(folder, script));
    chmodSync(join(folder, script), 0o755);
  }
}

/** What the executable and keytar's binary are linked with; libsecret brings glib. */
function control(kib: number): string {
  return `Package: lifeboat
Version: ${packageJson.version}
Architecture: ${architecture()}
Maintainer: ${DEBFULLNAME} <${DEBEMAIL}>
Installed-Size: ${kib}
Depends: libc6 (>= 2.28), libgcc-s1, libsecret-1-0, libstdc++6 (>= 6)
Suggests: gnome-keyring, postgresql
Section: admin
Priority: optional
Description: disaster-recovery runbooks for managed data services
 Lifeboat walks you through the recovery of a managed database, one safe step
 at a time, in the terminal. Nothing that changes the service is sent twice,
 no key is lost, and each recovery leaves evidence for an audit.
 .
 This package brings its own Node.js. The simulator of the service, which
 drills need, uses PostgreSQL 15 or newer.
`;
}

function architecture(): string {
  const name = ARCHITECTURES[process.arch];
  if (name === undefined) throw new Error(`there is no Debian package for ${process.arch}`);
  return name;
}

function changelog(): string {
  const date = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? Date.now() / 1000) * 1000);
  return `lifeboat (${packageJson.version}) unstable; urgency=medium

  * See NEWS.md.gz.

 -- ${DEBFULLNAME} <${DEBEMAIL}>  ${date.toUTCString().replace('GMT', '+0000')}
`;
}

function copyright(): string {
  const [title = '', holder = '', ...text] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').split(/\n\n/);
  const lines = text.join('\n\n').trimEnd().split('\n');
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lifeboat
Comment:
 The executable holds Node.js and the packages that THIRD-PARTY-LICENSES.gz, in
 this folder, names with their licences.

Files: *
Copyright: ${holder.replace(/^Copyright \(c\) /, '')}
License: ${title === 'MIT License' ? 'Expat' : title}
${lines.map((line) => (line === '' ? ' .' : ` ${line}`)).join('\n')}
`;
}

function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
