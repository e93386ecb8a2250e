import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommands, bundleSampleApp, bundleStart, ROOT } from './bundles.ts';
import { noticesOf, packagesOf } from './licenses.ts';
import { writeProse } from './prose.ts';

/*
 * `npm run build`: what ships, in `dist`. `main.cjs` and its volumes `part*.cjs` have all commands; `cli.js`
 * and `start.cjs` are the way in; `sample-app.js` is the application of the lab; `prose` has what the
 * runbooks say, read.
 * `packages.json` and `THIRD-PARTY-LICENSES` name what is bundled.
 */
const OUT = join(ROOT, 'dist');

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);

const main = await bundleCommands(OUT);
const start = await bundleStart(OUT, main.stamp);
const lab = await bundleSampleApp(OUT);
writeProse(ROOT);

const inputs = [main, start, lab].flatMap((each) => each.inputs);
writeFileSync(join(OUT, 'THIRD-PARTY-LICENSES'), noticesOf(ROOT, inputs));
writeFileSync(join(OUT, 'packages.json'), `${JSON.stringify(packagesOf(ROOT, inputs), null, 2)}\n`);
