import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

/** Holds a run, begins a transaction on the database beside the journal, and pauses. */
const HOLDER = `
  const { openSqliteStore } = await import(process.argv[1]);
  const { freshSigner } = await import(process.argv[2]);
  const { DatabaseSync } = await import('node:sqlite');
  const { PROJECTIONS } = await import(process.argv[3]);
  const [, , , , home, run] = process.argv;
  const journal = await openSqliteStore({ home, by: 'holder', signer: freshSigner(), projections: PROJECTIONS });
  await journal.hold('instance/orders');
  const hold = await journal.hold(run);
  await journal.append([{ stream: run, type: 'note', body: {} }], [hold]);
  const database = new DatabaseSync(home + '/lifeboat.db');
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('locked');
  // An unreferenced database may be collected, and its lock with it.
  setInterval(() => database.isOpen, 1000);
`;

test('the error for a locked journal names the process that is writing and its run, but no dead process', {
  timeout: 300_000,
}, async () => {
  const home = temporaryHome();
  const dead = await holderOf(home, 'run/dead');
  dead.kill('SIGKILL');
  await once(dead, 'close');
  const holder = await holderOf(home, 'run/a');
  holder.kill('SIGSTOP');
  const journal = await openIn(home);
  onTestFinished(() => journal.close());
  const refused = journal.append([{ stream: 'store/log', type: 'note', body: {} }], []);
  await expect(refused).rejects.toMatchObject({
    code: 'journal.busy',
    shortMessage: 'another process keeps the journal locked',
    hints: [
      expect.stringContaining('nothing was written'),
      expect.stringMatching(
        new RegExp(
          `^it may be process ${holder.pid} on \\S+, which has held run/a since \\S+: continue it if it was stopped`,
          'u',
        ),
      ),
    ],
  });
});

async function holderOf(home: string, run: string) {
  const modules = ['../../src/store/sqlite/open.ts', 'fresh-signer.ts', '../../src/store/projected.ts'].map(
    (path) => resolve(import.meta.dirname, path),
  );
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, ...modules, home, run], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}
