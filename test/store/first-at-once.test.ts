import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

/**
 * Another process that creates the journal at the same moment: it announces its write and finishes a little
 * later.
 */
const MAKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData);
  db.exec('BEGIN IMMEDIATE');
  parentPort.postMessage('has it');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  db.exec('COMMIT');
  db.close();
`;

test('a first command waits for another one that creates the journal at the same moment', async () => {
  const home = temporaryHome();
  const file = join(home, 'lifeboat.db');
  const maker = new Worker(MAKER, { eval: true, workerData: file });
  onTestFinished(async () => void (await maker.terminate()));
  await new Promise((resolve) => maker.once('message', resolve));
  const journal = await openIn(home);
  onTestFinished(() => journal.close());
  await journal.append([{ stream: 'store/log', type: 'note', body: null }], []);
  expect(await journal.read('store/log')).not.toEqual([]);
});
