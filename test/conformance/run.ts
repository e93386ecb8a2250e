import { CHECKS } from './checks/index.ts';
import { plain } from './exchange.ts';
import { CannotStart, type Options, readOptions, USAGE } from './options.ts';
import { linesOf, objectOf, summaryOf } from './report.ts';
import { start } from './start.ts';
import { type Result, runChecks } from './suite.ts';

/*
 * `npm run conformance -- --url URL --token-file FILE`: holds any server against service-api.md, from the
 * outside. `--help` says the rest.
 */
try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === undefined) process.stdout.write(USAGE);
  else process.exitCode = await run(options);
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  process.stderr.write(`${plain(error.message)}\n`);
  process.exitCode = 2;
}

async function run(options: Options): Promise<number> {
  const checks = CHECKS.filter(({ id }) => id.startsWith(options.only ?? ''));
  if (checks.length === 0) throw new CannotStart('--only leaves no check');
  const subject = await start(options);
  const { secrets } = subject.trace;
  const found = options.revision === 'auto' ? 'found' : 'given';
  process.stderr.write(`revision ${subject.revision} (${found}), changes: ${subject.level}\n`);
  const results: Result[] = [];
  for await (const result of runChecks(subject, checks)) {
    results.push(result);
    const lines = options.json ? [JSON.stringify(objectOf(result, secrets))] : linesOf(result, secrets);
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
  // In JSON the objects stand alone on stdout.
  (options.json ? process.stderr : process.stdout).write(`${summaryOf(results)}\n`);
  return results.some(({ outcome }) => outcome.kind === 'fail') ? 1 : 0;
}
