import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { Secret } from '../../src/base/secret.ts';
import type { CommandContext } from '../../src/cli/context.ts';
import { adoptKey } from '../../src/compose/adopt-key.ts';
import { askForKeys } from '../../src/compose/ask-for-keys.ts';
import { memoryStore } from '../../src/keys/key-store.ts';
import { checkOfGenerated, generateKey, openKeyring } from '../../src/keys/keyring.ts';
import type { Entry } from '../../src/store/journal.ts';
import { answerToTheChange, LOST, makeWorld, obedient, reaches, sending } from '../runner/world.ts';

const JOURNAL = { guard: () => undefined, read: async () => [] };
/** No person is at the terminal. */
const HEADLESS = { stdin: {}, stderr: {}, env: {} } as unknown as CommandContext;

test('resuming a run is refused while the key store lacks its new key, until the key is stored under its name', async () => {
  const { entries, run, runbook } = await interrupted();
  const keyring = openKeyring(memoryStore());
  const ask = () => askForKeys(HEADLESS, { journal: JOURNAL, keyring }, run, runbook, entries);
  await expect(ask()).rejects.toMatchObject({
    code: 'keys.lacking',
    exitCode: 3,
    hints: expect.arrayContaining([
      expect.stringMatching(/lifeboat keys add orders --as [0-9a-f]{12} --file FILE/u),
    ]),
    evidence: { keys: [expect.stringMatching(/^[0-9a-f]{12}$/u)] },
  });
  const [name = ''] = await ask().catch((thrown) => thrown.evidence.keys);
  await keyring.adopt('orders', name, new Secret('the key that another store has named'));
  expect(await ask()).toEqual({});
});

test('leaving the prompt for a key says which key it was, and how to continue', async () => {
  const { entries, run, runbook } = await interrupted();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const parts = { journal: JOURNAL, keyring: openKeyring(memoryStore()) };
  const context = { stdin, stderr, env: {} } as unknown as CommandContext;
  const asked = askForKeys(context, parts, run, runbook, entries);
  const shown = (async () => {
    let text = '';
    for await (const chunk of stderr) {
      text += String(chunk);
      if (text.includes('(Esc leaves)')) return stdin.write('\u0003');
    }
    throw new Error('it does not ask');
  })();
  await expect(asked).rejects.toMatchObject({
    code: 'input.left',
    exitCode: 130,
    shortMessage: expect.stringMatching(/^key [0-9a-f]{12} was not entered$/u),
    hints: ['nothing was sent: the run is unchanged', `resume it: lifeboat resume ${run.runId}`],
  });
  await shown;
});

test('a run that has not named a key yet, or is over, asks for none', async () => {
  const { entries, run, runbook } = await interrupted();
  const keyring = openKeyring(memoryStore());
  const parts = { journal: JOURNAL, keyring };
  expect(await askForKeys(HEADLESS, parts, run, runbook, entries.slice(0, 1))).toEqual({});
});

test('a key that cannot be the recorded one is refused: of another length, or other than the one generated', async () => {
  const keyring = openKeyring(memoryStore());
  const real = generateKey();
  const body = { fingerprint: 'aaaaaaaaaaaa', run: 'R', origin: 'generated', store: 'vault', length: 43 };
  const pending = {
    type: 'key.pending',
    body: { ...body, check: checkOfGenerated(real) },
  } as unknown as Entry;
  const parts = { journal: { read: async () => [pending] }, keyring };
  for (const key of [new Secret('too short'), generateKey()])
    await expect(adoptKey(parts, 'orders', 'aaaaaaaaaaaa', key)).rejects.toMatchObject({
      code: 'keys.other',
      exitCode: 2,
    });
  expect(await keyring.list('orders')).toEqual([]);
  await adoptKey(parts, 'orders', 'aaaaaaaaaaaa', real);
  expect(await keyring.list('orders')).toEqual(['aaaaaaaaaaaa']);
});

test('another key never replaces one that is kept under a name', async () => {
  const keyring = openKeyring(memoryStore());
  await keyring.adopt('orders', 'aaaaaaaaaaaa', new Secret('one key of another store'));
  await expect(keyring.adopt('orders', 'aaaaaaaaaaaa', new Secret('another key'))).rejects.toMatchObject({
    code: 'keys.exists',
  });
  expect(await keyring.list('orders')).toEqual(['aaaaaaaaaaaa']);
});

/** A rotation that was left when its new key was stored and set. */
async function interrupted() {
  const world = await makeWorld(
    obedient({
      createBackup: sending(
        async () => LOST,
        () => new Promise(() => undefined),
      ),
    }),
  );
  const run = await world.takeUp();
  await answerToTheChange(run);
  await reaches(run, 'backup.sending');
  await run.detach();
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const entries = await world.journal.read(`run/${world.runId}`);
  return {
    entries,
    runbook,
    run: { runId: world.runId, runbook: 'rotate-key', version: '2', instance: 'orders' },
  };
}
