import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { bundleCommands, bundleSampleApp, bundleStart, ROOT } from './bundles.ts';
import { noticesOf, packagesOf } from './licenses.ts';
import { writeProse } from './prose.ts';
import { putInPlace } from './put-in-place.ts';

/*
 * `npm run build`: what ships, in `dist`. `main.cjs` and its volumes `part*.cjs` have all commands; `cli.js`
 * and `start.cjs` are the way in; `sample-app.js` is the application of the lab; `prose` has what the
 * runbooks say, read.
 * `packages.json` and `THIRD-PARTY-LICENSES` name what is bundled. It is made beside and put in its place as
 * a whole: commands that run at that moment do not miss it.
 */
const BESIDE = mkdtempSync(join(ROOT, '.build-'));
const OUT = join(BESIDE, 'dist');
process.once('exit', () => rmSync(BESIDE, { recursive: true, force: true }));
mkdirSync(OUT);

const main = await bundleCommands(OUT);
const start = await bundleStart(OUT, main.stamp);
const lab = await bundleSampleApp(OUT);
writeProse(BESIDE);

const inputs = [main, start, lab].flatMap((each) => each.inputs);
writeFileSync(join(OUT, 'THIRD-PARTY-LICENSES'), noticesOf(ROOT, inputs));
writeFileSync(join(OUT, 'packages.json'), `${JSON.stringify(packagesOf(ROOT, inputs), null, 2)}\n`);

putInPlace(OUT, join(ROOT, 'dist'));
