import { resolve } from 'node:path';
import { benchCommands } from './commands.ts';
import { benchJournal } from './journal.ts';
import { benchRuns } from './runs.ts';
import { benchStart } from './start.ts';
import { benchTeam } from './team.ts';
import { benchVerify } from './verify.ts';

/*
 * `npm run bench [-- --quick]`: each figure is a ratio against a peer in the same run. `--quick` reads 256
 * MiB instead of 1 GiB. Nothing here passes or fails: budgets stand beside the figures.
 */
const quick = process.argv.includes('--quick');
const CLI = resolve(import.meta.dirname, '../../dist/cli.js');
const print = (what: string, figure: string, budget: string) =>
  process.stdout.write(`${what.padEnd(52)} ${figure.padEnd(34)} budget ${budget}\n`);
const ratio = (value: number) => value.toFixed(2);

const verify = await benchVerify({
  contentBytes: quick ? 2 ** 28 : 2 ** 30,
  command: (file, keyFile) => [process.execPath, CLI, 'verify', file, '--key-file', keyFile],
});
const size = `${Math.round(verify.contentBytes / 2 ** 20)} MiB`;
print(
  `lifeboat verify / openssl | gzip | tar, ${size}`,
  `${ratio(verify.ratio.median)} (${ratio(verify.ratio.low)} .. ${ratio(verify.ratio.high)})`,
  '<= 0.45',
);
print(
  '  peak resident memory',
  verify.peakRssMiB === undefined ? 'not measured' : `${Math.round(verify.peakRssMiB)} MiB`,
  '<= 150 MiB',
);

const start = await benchStart(quick ? 5 : 11);
const against = (ms: number) =>
  `${ratio(ms / start.node)} (${Math.round(ms)} ms / ${Math.round(start.node)} ms)`;
print('first frame / node -e 0', against(start.firstFrame), '<= 1.3');
print(
  'interactive / node -e 0',
  start.interactive === undefined ? 'no keychain daemon here' : against(start.interactive),
  '<= 5',
);
print('--version / node -e 0', against(start.version), '<= 1.5');
const measured = (memory: number | undefined) => (memory === undefined ? 'not measured' : ratio(memory));
print('memory at rest / node -e', measured(start.memoryAtRest), '<= 2.2');
print('  as the screen is drawn', measured(start.memoryDrawn), 'none');
print('  the libraries alone, at rest', measured(start.memoryOfLibraries), 'none');
for (const { command, its, nodes } of await benchCommands(quick ? 11 : 31)) {
  const by = (what: 'processor' | 'wall') =>
    `${ratio(its[what] / nodes[what])} (${Math.round(its[what])} ms / ${Math.round(nodes[what])} ms)`;
  print(`${command} / node -e 0, processor time`, by('processor'), '<= 3');
  print('  from start to end', by('wall'), 'none');
}

const journal = await benchJournal();
const durable = (value: number, ms: number) =>
  `${ratio(value)} (${ms.toFixed(2)} ms / ${journal.rawMs.toFixed(2)} ms)`;
print('intent durable / append + fdatasync', durable(journal.ratio, journal.appendMs), '<= 2');
print(
  '  with its checkpoint in one place',
  durable(journal.ratioWithCheckpoint, journal.appendMs + journal.checkpointMs),
  '<= 4',
);
const { rawMs, appendMs, checkpointMs } = journal.cpu;
print(
  '  processor time: raw, intent, with its checkpoint',
  [rawMs, appendMs, appendMs + checkpointMs].map((ms) => ms.toFixed(2)).join(', '),
  'none, in ms',
);
print('audit of a million entries', `${journal.verifyMillionSeconds.toFixed(1)} s`, '<= 10 s');

const count = quick ? 10_000 : 100_000;
for (const run of await benchRuns([process.execPath, CLI], count, quick ? 3 : 7)) {
  const { command, manyMs, fewMs, peakRssMiB, fewRssMiB } = run;
  const times = `(${Math.round(manyMs)} ms / ${Math.round(fewMs)} ms)`;
  print(
    `${command}, ${count.toLocaleString('en')} closed runs / 10`,
    `${ratio(manyMs / fewMs)} ${times}`,
    '<= 1.5',
  );
  const rss =
    peakRssMiB === undefined
      ? 'not measured'
      : `${Math.round(peakRssMiB)} MiB / ${Math.round(fewRssMiB ?? 0)} MiB`;
  // Opening a vault also keeps scrypt in memory, which is the same in both.
  print('  peak resident memory', rss, '<= 100 MiB, a vault besides');
}

// As two workers with 25 runs each, and as 50 people.
for (const processes of [2, 50]) {
  const team = await benchTeam(processes, quick ? 3 : 8);
  const [median, slow] = [Math.round(team.medianMs), Math.round(team.slowMs)];
  print(
    `durable appends a second, 50 writers in ${processes} processes, PostgreSQL`,
    `${Math.round(team.appends)} (${median} ms, 99 of 100 within ${slow} ms; a plain insert ${ratio(team.ratio)} times as often)`,
    '>= 1,000',
  );
}
