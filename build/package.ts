import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import packageJson from '../package.json' with { type: 'json' };
import { billOfMaterials } from './bill-of-materials.ts';
import { ROOT } from './bundles.ts';
import { DOCUMENTS, makeDebianPackage } from './debian-package.ts';
import { makeSingleExecutable } from './single-executable.ts';

/*
 * `npm run package [-- FOLDER]`: makes, for this platform, everything that can be installed, in `release` or
 * in FOLDER, whose content it replaces: the npm package, the single executable with what belongs to it as one
 * archive, the Debian package where there is `dpkg-deb`, a bill of materials (CycloneDX) beside each, and
 * SHA256SUMS over all.
 */
const [given = join(ROOT, 'release')] = process.argv.slice(2);
const NAME = `lifeboat-${packageJson.version}-${process.platform}-${process.arch}`;

rmSync(given, { recursive: true, force: true });
mkdirSync(given, { recursive: true });
execFileSync('npm', ['pack', '--silent', '--pack-destination', given], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const single = join(given, NAME);
await makeSingleExecutable(single);
for (const path of ['LICENSE', 'CHANGELOG.md', 'man/lifeboat.1', 'packaging/systemd', ...DOCUMENTS])
  cpSync(join(ROOT, path), join(single, basename(path)), { recursive: true });
await archive(single, `${single}.tar.gz`);
if (spawnSync('dpkg-deb', ['--version']).error === undefined) makeDebianPackage(single, given);
else process.stderr.write('no Debian package: there is no dpkg-deb\n');
rmSync(single, { recursive: true });
const bundled = JSON.parse(readFileSync(join(ROOT, 'dist/packages.json'), 'utf8')) as Record<string, string>;
for (const name of readdirSync(given)) {
  const bill = billOfMaterials(bundled, { node: !name.endsWith('.tgz') });
  writeFileSync(join(given, `${name}.cdx.json`), bill);
}
const sums = readdirSync(given)
  .toSorted()
  .map((name) => {
    const bytes = readFileSync(join(given, name));
    process.stdout.write(`${(bytes.length / 2 ** 20).toFixed(1).padStart(6)} MiB  ${join(given, name)}\n`);
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
  });
writeFileSync(join(given, 'SHA256SUMS'), sums.join(''));

/** A folder as an archive of files that are root's, whoever makes it. */
async function archive(folder: string, file: string): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createGzip(), createWriteStream(file));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(folder, name);
    const { mode, mtime } = statSync(path);
    if (statSync(path).isFile())
      tar.entry(
        { name: join(basename(folder), name), mode: mode & 0o111 ? 0o755 : 0o644, mtime },
        readFileSync(path),
      );
  }
  tar.finalize();
  await written;
}
