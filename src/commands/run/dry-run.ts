import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openKeys } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { usualWords } from '../../view/app/usual-times.ts';
import type { PlannedStep } from '../../view/plan-schema.ts';
import { viewFact } from '../../view/view-outcome.ts';
import { type FoundDryRun, findDryRun } from './find-dry-run.ts';
import type { GivenFlags } from './run-input.ts';

/**
 * `lifeboat run RUNBOOK --dry-run`: prints what a run would do, call by call, and what it finds now. Sends
 * only GETs and leaves nothing behind. Exit 1 when something blocks the run.
 */
export const printDryRun: Action<GivenFlags & { readonly tokenFile?: string }> = async (
  context,
  words,
  given,
) => {
  const runbook = runbookNamed(words[0] ?? '');
  const config = await loadConfig(context.env, context.configPath);
  const before = await findDryRun(context, config, [runbook.id], given, { keys: () => openKeys(context) });
  await printResult(context, 'dry-run', resultOf(before), () => print(context, before));
  return before.found.failure === undefined ? EXIT.closed : EXIT.failed;
};

function resultOf({ runbook, names, steps, found, approvals, usual }: FoundDryRun): ResultOf<'dry-run'> {
  const { id, version } = runbook;
  const { state, context, failure, asks } = found;
  const facts = runbook.facts(context as never);
  const { wholeSeconds: seconds, runs = 0 } = usual ?? {};
  return {
    runbook: id,
    version,
    ...names,
    steps,
    approvals,
    found: { state, facts, inTheWay: failure, asks },
    ...(seconds === undefined ? {} : { usual: { seconds, runs } }),
  };
}

function print(
  context: CommandContext,
  { runbook, names, losesData, steps, found, approvals, usual }: FoundDryRun,
): void {
  const { stdout } = context;
  const { instance, target } = names;
  stdout.write(
    `${runbook.title}\ninstance: ${instance}\n${target === undefined ? '' : `target: ${target}\n`}\n`,
  );
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'call' },
    { title: 'on', gives: true },
    { title: 'effect' },
    { title: 'what', gives: true },
  ];
  printTable(
    context,
    columns,
    steps.flatMap((step) => rowsOf(step, losesData)).map((row, at) => [String(at + 1), ...row]),
  );
  printWords(
    context,
    'what has to hold',
    steps.flatMap(({ calls }) => calls.map(({ needs }) => needs)),
  );
  printWords(
    context,
    'what its interface has no call for',
    steps.flatMap(({ title, calls }) =>
      calls.filter(({ absent }) => absent).map(({ on, what }) => `${title}: ${what} (${on} does not say)`),
    ),
  );
  printWords(
    context,
    'what a second person has to approve',
    approvals.map(({ title, on }) => `${title}: a change of ${show(on, 80)}`),
  );
  printWords(
    context,
    'what cannot be undone',
    steps.flatMap(({ calls }) => calls.map(({ forever }) => forever)),
  );
  printWords(
    context,
    'the way back',
    steps.map(({ title, wayBack }) => wayBack && `${title}: ${wayBack}`),
  );
  printWords(context, 'how long it takes', [usualWords(usual?.wholeSeconds, usual?.runs ?? 0)]);
  stdout.write('\nwhat it finds now\n');
  for (const { label, value } of runbook.facts(found.context as never).map(viewFact))
    stdout.write(`  ${label}: ${value}\n`);
  if (found.asks !== undefined) stdout.write(`  it asks you before more can be seen: ${show(found.asks)}\n`);
  if (found.failure !== undefined) stdout.write(`  in the way: ${show(found.failure.shortMessage)}\n`);
  context.stderr.write('nothing was changed\n');
}

function rowsOf(step: PlannedStep, losesData: boolean): string[][] {
  if (step.asks !== undefined) return [['asks you', '', '', step.asks]];
  const made = step.calls.filter(({ absent }) => !absent);
  const calls = made.map(({ method, path, on, changes, what }) => [
    `${method} …${path}`,
    on,
    changes ? (step.destructive && losesData ? 'DESTROYS' : 'CHANGES') : '',
    what,
  ]);
  return [...calls, ...step.does.map((words) => outside(words, step.changes))];
}

/** A step that happens outside the service; words that begin with `platform:` say where. */
function outside(words: string, changes: boolean): string[] {
  const [, what] = /^platform: (.*)$/.exec(words) ?? [];
  return [what === undefined ? 'command' : 'platform', '', changes ? 'CHANGES' : '', what ?? words];
}

function printWords({ stdout }: CommandContext, title: string, words: readonly (string | undefined)[]): void {
  const said = [...new Set(words)].filter((word) => word !== undefined && word !== '');
  if (said.length > 0) stdout.write(`\n${title}\n${said.map((word) => `  ${word}\n`).join('')}`);
}
