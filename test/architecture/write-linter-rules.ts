import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linterRules } from './linter-rules.ts';
import { ROOT, readSourceFiles } from './source-files.ts';

/** Writes the rules of the table into the file that `.biome.json` extends: `npm run rules`. */
const overrides = linterRules(readSourceFiles().map(({ path }) => path));
const config = { $schema: './node_modules/@biomejs/biome/configuration_schema.json', root: false, overrides };
writeFileSync(join(ROOT, '.biome.rooms.json'), `${JSON.stringify(config, null, 2)}\n`);
