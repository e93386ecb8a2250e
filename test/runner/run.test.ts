import { describe, expect, test } from 'vitest';
import { statePath } from '../../machines/parts/states.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { listRuns } from '../../src/runner/runs.ts';
import type { Json } from '../../src/store/journal.ts';
import {
  answerToTheChange,
  answerToTheName,
  LOST,
  landed,
  makeWorld,
  obedient,
  reaches,
  sending,
} from './world.ts';

const refused = {
  code: 'credentials.refused',
  shortMessage: 'the token was refused',
  hints: [],
  evidence: {},
};

describe('a run', () => {
  test('goes from its first entry to a proven end, and records that', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await answerToTheChange(run);
    expect(await run.ended).toEqual({ how: 'ended', exitCode: 0 });
    expect((await world.types()).at(-1)).toBe('run.closed');
    expect(await world.bodies('run.closed')).toMatchObject([{ outcome: 'done', proven: true }]);
  });

  test('has an intent on disk, prepared and armed, before its request is sent', async () => {
    let before: string[] = [];
    const world = await makeWorld(
      obedient({
        createBackup: sending(async () => {
          before = await world.types();
          return landed(4);
        }),
      }),
    );
    const run = await world.takeUp();
    await answerToTheChange(run);
    await run.ended;
    expect(before.slice(-2)).toEqual(['intent.prepared', 'intent.armed']);
  });

  test('has a checkpoint outside the store before a byte of a change is sent, and another at its end', async () => {
    const order: string[] = [];
    const world = await makeWorld(
      obedient({
        setKey: {
          kind: 'repeatable',
          run: async () => {
            order.push('key sent');
            return { ok: true, output: { answer: 'accepted' } };
          },
        },
        createBackup: sending(async () => {
          order.push('backup sent');
          return landed(4);
        }),
      }),
    );
    const seal = async () => void order.push(`checkpoint behind ${(await world.types()).at(-1)}`);
    const run = await world.takeUp({ seal });
    await answerToTheChange(run);
    await run.ended;
    expect(order).toEqual([
      'checkpoint behind activity.begun',
      'key sent',
      'checkpoint behind intent.armed',
      'backup sent',
      'checkpoint behind run.closed',
    ]);
  });

  test('cleans up after a verb once its result is on record, and not where the result could not be written', async () => {
    const seen: Json[] = [];
    const world = await makeWorld(
      obedient({
        downloadBackup: {
          kind: 'read',
          run: async () => ({
            ok: true,
            output: { path: '/f', bytes: 1, sha256: 'aa', seconds: 1, verdict: 'match' },
            recorded: async () => {
              const last = (await world.bodies('event')).at(-1) as { readonly to: string };
              seen.push(last.to);
              throw new Error('what cannot be removed stays');
            },
          }),
        },
      }),
    );
    const isOfTheEnd = (entries: readonly object[]) =>
      JSON.stringify(entries).includes('"to":"oldBackup.verifying"');
    const append: typeof world.journal.append = (entries, options) =>
      isOfTheEnd(entries)
        ? Promise.reject(new Error('the disk is gone'))
        : world.journal.append(entries, options);
    const cut = await world.takeUp({ journal: { ...world.journal, append } });
    await reaches(cut, 'oldBackup.asking');
    await cut.answer({ event: 'operator.prove' });
    await expect(cut.ended).rejects.toThrow('the disk is gone');
    expect(seen).toEqual([]);
    const run = await world.takeUp();
    await reaches(run, 'key.choosing');
    expect(seen).toEqual(['oldBackup.verifying']);
  });

  test('can be driven by one process only: the second is told which process holds it', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await expect(world.takeUp()).rejects.toMatchObject({ code: 'journal.held' });
    await run.detach();
    const again = await world.takeUp();
    await again.detach();
  });

  test('that is closed right after it is resumed requests its last notes only when everything is ready', async () => {
    const world = await makeWorld(obedient());
    const killed = await world.takeUp({
      lastNotes: () => {
        throw new Error('killed');
      },
    });
    await answerToTheChange(killed);
    await expect(killed.ended).rejects.toThrow();
    const order: string[] = [];
    const held = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('ready');
    };
    const lastNotes = () => {
      order.push('asked');
      return [];
    };
    await (await world.takeUp({ held, lastNotes })).ended;
    expect(order).toEqual(['ready', 'asked']);
  });
});

describe('an intent that was armed', () => {
  test('is never sent again after the process died, and its landed request is adopted', async () => {
    let sends = 0;
    const activities = obedient({
      createBackup: sending(
        () => {
          sends += 1;
          return new Promise(() => undefined);
        },
        async () => ({ verdict: 'landed', output: { landed: true, id: 9, adopted: true }, evidence: {} }),
      ),
    });
    const world = await makeWorld(activities);
    const first = await world.takeUp();
    await answerToTheChange(first);
    await reaches(first, 'backup.sending');
    await until(() => sends === 1);
    await first.detach();
    const second = await world.takeUp();
    expect(await second.ended).toMatchObject({ exitCode: 0 });
    expect(sends).toBe(1);
    expect(second.state().snapshot.context.backup.send).toMatchObject({ adopted: true });
  });

  test('is sent again, as a new intent, only if the service shows that it never arrived', async () => {
    let sends = 0;
    const world = await makeWorld(
      obedient({
        createBackup: sending(async () => {
          sends += 1;
          return sends === 1 ? LOST : landed(5);
        }),
      }),
    );
    const run = await world.takeUp();
    await answerToTheChange(run);
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect(sends).toBe(2);
    expect(await world.bodies('intent.armed')).toMatchObject([
      { intent: 'backup-1' },
      { intent: 'backup-2' },
    ]);
  });

  test('asks a person if the service shows several candidates, and sends nothing until then', async () => {
    let sends = 0;
    const failure = {
      code: 'doubt.ambiguous',
      shortMessage: 'two',
      hints: [],
      evidence: { candidates: [{ id: 7 }, { id: 8 }] },
    };
    const world = await makeWorld(
      obedient({
        createBackup: sending(
          async () => {
            sends += 1;
            return LOST;
          },
          async () => ({ verdict: 'ambiguous', failure }),
        ),
      }),
    );
    const run = await world.takeUp();
    await answerToTheChange(run);
    await reaches(run, 'backup.inDoubt');
    await run.answer({ event: 'operator.lookAgain' });
    await reaches(run, 'backup.inDoubt');
    await run.answer({ event: 'operator.adopt:8' });
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect(sends).toBe(1);
  });

  test('stays in doubt if the service cannot be asked', async () => {
    const world = await makeWorld(
      obedient({
        createBackup: sending(
          async () => LOST,
          async () => {
            throw new LifeboatError('service.unreachable', 'no way there');
          },
        ),
      }),
    );
    const run = await world.takeUp();
    await answerToTheChange(run);
    await reaches(run, 'backup.inDoubt');
    expect(run.state().snapshot.context.failure).toMatchObject({ code: 'doubt.unreadable' });
    await run.detach();
  });
});

describe('refused credentials', () => {
  test('pause a run without failing it, and the same step is done again', async () => {
    let asked = 0;
    const world = await makeWorld(
      obedient({
        preflight: {
          kind: 'read',
          run: async () => {
            asked += 1;
            return { ok: false, failure: refused };
          },
        },
      }),
    );
    const run = await world.takeUp();
    expect(await run.ended).toEqual({ how: 'paused', exitCode: 4 });
    expect(statePath(run.state().snapshot)).toBe('preflight.looking');
    const where = async () => (await listRuns(world.journal)).map((one) => one.where);
    expect(await where()).toEqual(['waits for credentials']);
    const again = await world.takeUp({ activities: obedient() });
    await reaches(again, 'oldBackup.asking');
    expect(asked).toBe(1);
    expect(await where()).not.toEqual(['waits for credentials']);
    await again.detach();
  });

  test('let the same intent be prepared again, since the service refused to do it', async () => {
    let sends = 0;
    const world = await makeWorld(
      obedient({
        createBackup: sending(async () => {
          sends += 1;
          return sends === 1 ? { sent: 'absent', failure: refused } : landed(4);
        }),
      }),
    );
    const run = await world.takeUp({ leaveWhenPaused: false });
    await answerToTheChange(run);
    await until(() => run.state().paused !== undefined);
    run.wake();
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect(await world.bodies('intent.armed')).toMatchObject([
      { intent: 'backup-1' },
      { intent: 'backup-1' },
    ]);
  });
});

describe('an answer', () => {
  test('with a wrong name changes nothing', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await answerToTheName(run);
    const before = await world.types();
    await expect(run.answer({ event: 'operator.confirm', typed: 'order' })).rejects.toMatchObject({
      code: 'confirm.mismatch',
    });
    await expect(run.answer({ event: 'operator.confirm' })).rejects.toMatchObject({
      code: 'confirm.mismatch',
    });
    await expect(run.answer({ event: 'operator.retry' })).rejects.toMatchObject({ code: 'answer.misfit' });
    expect(await world.types()).toEqual(before);
    await run.detach();
  });

  test('that needs a reason is refused without one', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await reaches(run, 'oldBackup.asking');
    await expect(run.answer({ event: 'operator.skip', text: '  ' })).rejects.toMatchObject({
      code: 'answer.misfit',
    });
    await expect(run.answer({ event: 'operator.skip', text: 'No.' })).rejects.toMatchObject({
      code: 'answer.misfit',
      shortMessage: '"No." is no reason: write why, in a few words',
    });
    await run.answer({ event: 'operator.skip', text: 'proven yesterday' });
    expect(run.state().snapshot.context.skipped).toEqual([{ step: 'oldBackup', reason: 'proven yesterday' }]);
    await run.detach();
  });

  test('with a key leaves nothing of the key in the journal', async () => {
    const world = await makeWorld(obedient());
    const run = await world.takeUp();
    await reaches(run, 'oldBackup.asking');
    await run.answer({ event: 'operator.prove' });
    await reaches(run, 'key.choosing');
    await run.answer({ event: 'operator.enterKey' });
    await reaches(run, 'key.entering');
    const short = run.answer({ event: 'operator.provideKey', secret: new Secret('canary') });
    await expect(short).rejects.toMatchObject({ code: 'key.too-short' });
    const spaced = run.answer({
      event: 'operator.provideKey',
      secret: new Secret('canary with many blanks'),
    });
    await expect(spaced).rejects.toMatchObject({ code: 'key.characters' });
    await run.answer({ event: 'operator.provideKey', secret: new Secret('canary-canary-canary') });
    await reaches(run, 'confirm.asking');
    expect(JSON.stringify(await world.journal.read(`run/${world.runId}`))).not.toContain('canary');
    await run.detach();
  });
});

/** Waits for a condition that other tasks bring about. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
