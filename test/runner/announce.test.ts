import { expect, test } from 'vitest';
import type { AnyActivity, ChangeContext, LedgerFact } from '../../src/activities/activity.ts';
import { answerToTheChange, makeWorld, obedient } from './world.ts';

const SENT: LedgerFact = { type: 'key.sent', body: { fingerprint: 'bbbbbbbbbbbb', run: 'r' } };

/** A change that announces itself, and turns everything thrown inside it into an outcome, as verbs do. */
function announcing(then: () => Promise<object>, fact: LedgerFact = SENT): AnyActivity {
  return {
    kind: 'repeatable',
    run: async (_: never, { announce }: ChangeContext) => {
      try {
        await announce([fact]);
        return { ok: true, output: await then() };
      } catch {
        return { ok: true, output: { answer: 'accepted', status: 200 } };
      }
    },
  };
}

test('the announcement of a change is in the ledger before the change continues, and stays there if the process dies inside', async () => {
  const seen: string[] = [];
  const world = await makeWorld(
    obedient({
      setKey: announcing(async () => {
        const ledger = await world.journal.read('instance/orders');
        seen.push(...ledger.map(({ type }) => type));
        throw new Error('the process dies here');
      }),
    }),
  );
  const run = await world.takeUp();
  await answerToTheChange(run);
  await run.ended;
  expect(seen).toContain('key.sent');
});

test('a journal that rejects an announcement ends the run: the verb does not turn it into an outcome', async () => {
  let goneOn = 0;
  const setKey = announcing(
    async () => {
      goneOn += 1;
      return {};
    },
    { type: 'not a type', body: {} },
  );
  const world = await makeWorld(obedient({ setKey }));
  const run = await world.takeUp();
  await answerToTheChange(run);
  await expect(run.ended).rejects.toMatchObject({ code: 'journal.bad-entry' });
  expect(goneOn).toBe(0);
  expect(JSON.stringify(await world.bodies('event'))).not.toContain('creatingBackup');
});

test('facts of a change with refused credentials are in the ledger together with the pause', async () => {
  const failure = { code: 'credentials.refused', shortMessage: 'no', hints: [], evidence: {} };
  const refused = { type: 'key.refused', body: { fingerprint: 'bbbbbbbbbbbb', run: 'r' } };
  const setKey: AnyActivity = {
    kind: 'repeatable',
    run: async () => ({ ok: false, failure, ledger: [refused] }),
  };
  const world = await makeWorld(obedient({ setKey }));
  const run = await world.takeUp();
  await answerToTheChange(run);
  expect(await run.ended).toMatchObject({ how: 'paused' });
  const ledger = await world.journal.read('instance/orders');
  expect(ledger.map(({ type }) => type)).toContain('key.refused');
});
