import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { printEntries } from '../../src/commands/run/print-headless.ts';
import { appendHolding } from '../../src/runner/holds.ts';
import type { Journal, StreamName } from '../../src/store/journal.ts';
import { makeWorld, obedient } from '../runner/world.ts';

test('entries of a run and its ledgers are printed once, in order, up to the last that was written before the end', async () => {
  const { journal, runId } = await makeWorld(obedient());
  const { context, printed } = listening();
  const run = { runId, runbook: 'rotate-key', version: '1', instance: 'orders', target: 'orders-dr' };
  const stop = await printEntries(context, journal, run);
  await note(journal, `run/${runId}`, 'note.a');
  await note(journal, 'instance/shop', 'note.of-another');
  await note(journal, 'instance/orders-dr', 'note.b');
  await new Promise((resolve) => setImmediate(resolve));
  await note(journal, 'instance/orders', 'note.c');
  for (let more = 0; more < 20; more += 1) await note(journal, `run/${runId}`, 'note.d');
  await stop();
  await note(journal, `run/${runId}`, 'note.behind');
  expect(printed()).toEqual(['run.started', 'note.a', 'note.b', 'note.c', ...Array(20).fill('note.d')]);
});

test('for a resumed run, only new entries are printed', async () => {
  const { journal, runId } = await makeWorld(obedient());
  await note(journal, `run/${runId}`, 'note.a');
  const { context, printed } = listening();
  const run = { runId, runbook: 'rotate-key', version: '1', instance: 'orders' };
  const stop = await printEntries(context, journal, run);
  await note(journal, `run/${runId}`, 'note.b');
  await stop();
  expect(printed()).toEqual(['note.b']);
});

test('a store that cannot be read at the end is reported, and stops nothing', async () => {
  const { journal, runId } = await makeWorld(obedient());
  const { context, reported } = listening();
  const broken: Journal = {
    ...journal,
    read: (stream, from) => (from === undefined ? journal.read(stream) : Promise.reject(new Error('gone'))),
  };
  const stop = await printEntries(context, broken, { runId, instance: 'orders' });
  await stop();
  expect(reported()).toMatch(/^warning: the last entries are not printed/u);
});

async function note(journal: Journal, stream: StreamName, type: string): Promise<void> {
  await appendHolding(journal, [{ stream, type, body: {} }]);
}

function listening() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const context = { stdout, stderr, env: {} } as unknown as CommandContext;
  const textOf = (stream: PassThrough) => String(stream.read() ?? '');
  const printed = () =>
    textOf(stdout)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { type: string }).type);
  return { context, printed, reported: () => textOf(stderr) };
}
