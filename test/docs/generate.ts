import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allRunbooks } from '../../machines/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { EXIT, EXIT_CODES } from '../../src/base/errors.ts';
import { commandLine } from '../../src/cli/program.ts';
import { jsonSchemaOf, SCHEMAS, type SchemaName } from '../../src/cli/schemas/index.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { planJsonSchema } from '../../src/plans/plan-file.ts';
import { fillBlocks } from './blocks.ts';
import { commandsPage, manPage } from './command-pages.ts';
import { diagramOf, sendDiagram, sharedDiagrams } from './diagram.ts';
import { errorCodesPage } from './error-codes.ts';
import { commonKeys, keyTables } from './key-tables.ts';
import { stepTableOf } from './step-table.ts';

/*
 * `npm run docs`: writes into the documents what the program knows about itself. With `--check` it writes
 * nothing, and exits with 1 when a document is stale.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const check = process.argv.includes('--check');

for (const runbook of allRunbooks) {
  const blocks = { diagram: diagramOf(runbook), steps: stepTableOf(runbook) };
  renew(join('runbooks', `${runbook.id}.md`), blocks, Object.keys(blocks));
}
renew(join('runbooks', 'phases.md'), { send: sendDiagram(), diagrams: sharedDiagrams(allRunbooks) }, [
  'send',
  'diagrams',
]);
renew(join('docs', 'automation.md'), { 'exit-codes': exitCodes() }, ['exit-codes']);
renew(join('docs', 'app.md'), { 'app-keys': await keyTables() }, ['app-keys']);
renew('README.md', { 'common-keys': commonKeys(), send: sendDiagram() }, ['common-keys', 'send']);
const program = commandLine(packageJson.version);
write(join('docs', 'commands.md'), commandsPage(program));
write(join('docs', 'error-codes.md'), errorCodesPage(ROOT));
write(join('man', 'lifeboat.1'), manPage(program, packageJson.version));
for (const name of Object.keys(SCHEMAS) as SchemaName[])
  write(join('schemas', `${name}.json`), `${JSON.stringify(jsonSchemaOf(name), undefined, 2)}\n`);
write(join('schemas', 'config.json'), `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`);
write(join('schemas', 'plan.json'), `${JSON.stringify(planJsonSchema(), undefined, 2)}\n`);

function renew(file: string, blocks: Readonly<Record<string, string>>, required: readonly string[]): void {
  const before = readFileSync(join(ROOT, file), 'utf8');
  let after: string;
  try {
    after = fillBlocks(before, blocks, required);
  } catch (thrown) {
    report(`${file} ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return;
  }
  write(file, after);
}

/** A file that is made as a whole. */
function write(file: string, text: string): void {
  const path = join(ROOT, file);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  if (check) report(`${file} is stale: \`npm run docs\` renews it`);
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    process.stdout.write(`${file} renewed\n`);
  }
}

/** What ends with which exit code. */
function exitCodes(): string {
  const rows = Object.entries(EXIT_CODES).flatMap(([name, { means, when }]) =>
    Object.values(when).map((words) => `| ${EXIT[name as keyof typeof EXIT]} ${means} | ${words} |`),
  );
  return ['| exit code | when |', '|---|---|', ...rows].join('\n');
}

function report(problem: string): void {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
