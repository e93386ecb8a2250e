import { describe, expect, test } from 'vitest';
import type { OnceActivity } from '../../src/activities/activity.ts';
import {
  createBackup,
  performRecovery,
  restoreBackup,
  restoreToTime,
} from '../../src/activities/begin-task.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { recreate, restart, update } from '../../src/activities/instance-actions.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { perform } from '../../src/runner/perform.ts';
import type { Note, Performed } from '../../src/runner/performed.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import type { Entry } from '../../src/store/journal.ts';
import { type FakeService, fakeService, OLD, type Outcome, STORED_KEY } from './fake-service.ts';
import { contextOf } from './world.ts';

type Verb = (deps: ActivityDeps) => OnceActivity<never, unknown>;
interface Case {
  readonly what: string;
  readonly verb: Verb;
  readonly input: object;
  /** The call that it sends. */
  readonly call: string;
  /** The first read after a lost answer. */
  readonly read: string;
}

const FROM = { triggeredAt: '2026-02-27T01:30:00Z' };
const TASKS: readonly Case[] = [
  { what: 'create backup', verb: createBackup as Verb, input: {}, call: 'createBackup', read: 'backups' },
  {
    what: 'restore a backup',
    verb: restoreBackup as Verb,
    input: { backup: 3 },
    call: 'restoreBackup 3',
    read: 'restores',
  },
  {
    what: 'perform a recovery',
    verb: performRecovery as Verb,
    input: { backupGuid: 'G', fingerprint: STORED_KEY, expectFrom: FROM },
    call: 'performRecovery G a-key-that-is-stored',
    read: 'restores',
  },
  {
    what: 'restore to a time',
    verb: restoreToTime as Verb,
    input: { targetTime: '2026-02-28T23:00:00Z' },
    call: 'restoreToTime 2026-02-28T23:00:00Z',
    read: 'restores',
  },
];
const ACTIONS: readonly Case[] = [
  { what: 'restart', verb: restart as Verb, input: {}, call: 'restart', read: 'overview' },
  { what: 'recreate', verb: recreate as Verb, input: {}, call: 'recreate', read: 'overview' },
  { what: 'update', verb: update as Verb, input: {}, call: 'update offering', read: 'overview' },
];
const ALL = [...TASKS, ...ACTIONS];
const LOST: Outcome = { done: true, answer: 'lost' };
const GONE: Outcome = { done: false, answer: 'lost' };
const BUSY: Outcome = { done: false, answer: 'busy' };
const WHOLE: Outcome = { done: true, answer: 'whole' };

describe('a task that is requested once', () => {
  test.for(TASKS)('is adopted from the list if its answer is lost, with one send: $what', async (one) => {
    const { run, service, sends } = begin(one, LOST);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true, id: 10, adopted: true } });
    expect(service.calls.at(-1)).toBe(one.what === 'perform a recovery' ? 'backups' : one.read);
    expect(sends()).toEqual([one.call]);
  });

  test.for(TASKS)('that never arrived is absent only after the in-flight window: $what', async (one) => {
    const { run, sends, waited } = begin(one, GONE);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: false } });
    expect(waited()).toBeGreaterThanOrEqual(2_000);
    expect(sends()).toEqual([one.call]);
  });

  test.for(TASKS)('is found in the list if it was accepted without an id: $what', async (one) => {
    const { run, sends } = begin(one, { done: true, answer: 'without-id' });
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true, id: 10 } });
    expect(sends()).toEqual([one.call]);
  });

  test.for(TASKS)(
    'is a question beside one that looks the same, and nothing more is sent: $what',
    async (one) => {
      const { run, service, sends } = begin(one, LOST);
      service.beforeRead = () => {
        const rows: { id: number }[] = one.read === 'backups' ? service.backups : service.restores;
        const [ours] = rows;
        if (ours !== undefined && rows.length === 1) rows.push({ ...ours, id: 11 });
      };
      const asked = { how: 'failed', failure: { code: 'doubt.ambiguous' } };
      expect(await run()).toMatchObject(asked);
      // Looking again is another invocation with the same intent.
      expect(await run()).toMatchObject(asked);
      expect(sends()).toEqual([one.call]);
    },
  );

  test.for(TASKS)('is looked for in the list if its returned id was there before: $what', async (one) => {
    const { run, service, sends } = begin(one, { done: true, answer: 'old-id' });
    listOld(service);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true, id: 11 } });
    expect(sends()).toEqual([one.call]);
  });

  test.for(TASKS)('is a question if it gets only an id from before: $what', async (one) => {
    const { run, service, sends } = begin(one, { done: false, answer: 'old-id' });
    listOld(service);
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'doubt.not-listed' } });
    expect(sends()).toEqual([one.call]);
  });

  test('restoring to a time gets the id of the task even when the complete answer names none', async () => {
    const [, , , toTime] = TASKS;
    const { run } = begin(toTime as Case, WHOLE);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true, id: 10 } });
  });

  test('a restore to an invalid time is not armed', async () => {
    const [, , , toTime] = TASKS;
    const { run, sends, types } = begin({ ...(toTime as Case), input: { targetTime: 'yesterday' } }, LOST);
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'pitr.no-time' } });
    expect([sends(), types()]).toEqual([[], ['activity.begun']]);
  });

  test.for([{ fingerprint: 'dddddddddddd' }, { fingerprint: STORED_KEY, source: 'elsewhere' }])(
    'a recovery whose key is not stored is not armed: %o',
    async (key) => {
      const { run, sends, types } = begin(
        { ...(TASKS[2] as Case), input: { backupGuid: 'G', ...key } },
        LOST,
      );
      expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'key.not-stored' } });
      expect([sends(), types()]).toEqual([[], ['activity.begun']]);
    },
  );

  test('the key of a recovery is in nothing that is written', async () => {
    for (const outcome of [LOST, GONE, WHOLE]) {
      const { run, notes } = begin(TASKS[2] as Case, outcome);
      await run();
      expect(JSON.stringify(notes)).not.toContain('a-key-that-is-stored');
    }
  });
});

describe('an action of the instance', () => {
  const [restarting, ...deploying] = ACTIONS;

  test('has landed when the instance shows it after a lost answer: restart', async () => {
    const { run, sends } = begin(restarting as Case, LOST);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true, adopted: true } });
    expect(sends()).toEqual(['restart']);
  });

  test.for(deploying)(
    'is a question after a lost answer, whatever deploys the instance: $what',
    async (one) => {
      const { run, sends } = begin(one, LOST);
      expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'doubt.no-trace' } });
      expect(sends()).toEqual([one.call]);
    },
  );

  test.for(ACTIONS)(
    'that leaves no trace is a question after the in-flight window, never absent: $what',
    async (one) => {
      const { run, sends, waited } = begin(one, GONE);
      expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'doubt.no-trace' } });
      expect(waited()).toBeGreaterThanOrEqual(2_000);
      expect(sends()).toEqual([one.call]);
    },
  );

  test('an update of an instance that does not name its offering is not sent', async () => {
    const { run, service, sends } = begin(ACTIONS[2] as Case, LOST);
    service.overview = { state: 'available' };
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'service.no-service-id' } });
    expect(sends()).toEqual([]);
  });
});

describe('every verb that is sent once', () => {
  test.for(ALL)('is over with a whole answer: $what', async (one) => {
    const { run, sends } = begin(one, WHOLE);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true } });
    expect(sends()).toEqual([one.call]);
  });

  test.for(ALL)('is not in doubt when it was refused or never sent: $what', async (one) => {
    for (const answer of ['refused', 'never-sent'] as const) {
      const { run, types } = begin(one, { done: false, answer });
      expect(await run()).toMatchObject({ how: 'failed', failure: { shortMessage: answer } });
      expect(types()).not.toContain('intent.judged');
    }
  });

  test.for(ACTIONS)('fails if the service is doing the same already: $what', async (one) => {
    const { run, service, sends, types } = begin(one, { done: false, answer: 'conflict' });
    expect(await run()).toMatchObject({
      how: 'failed',
      failure: {
        code: 'service.conflict',
        shortMessage: expect.stringMatching(/ in progress already$/),
        hints: ['nothing was done', expect.stringMatching(/^wait until/)],
      },
    });
    expect(sends()).toEqual([one.call]);
    expect(types()).not.toContain('intent.judged');
    service.outcomes.push(WHOLE);
    expect(await run('I-2')).toMatchObject({ how: 'done', output: { landed: true } });
  });

  test.for(ALL)('is armed and sent again if it was throttled and nothing shows it: $what', async (one) => {
    const { run, sends, types, waited } = begin(one, BUSY);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true } });
    expect(sends()).toEqual([one.call, one.call]);
    const turn = ['intent.armed', 'intent.outcome'];
    const course = ['activity.begun', 'intent.prepared', ...turn, 'intent.judged', ...turn];
    expect(types().slice(0, 7), 'the look between the two is on record').toEqual(
      course.slice(0, types().length),
    );
    expect(waited()).toBeGreaterThan(0);
  });

  test.for(ALL)('fails if it is throttled repeatedly: $what', async (one) => {
    const { run, service, sends, types } = begin(one, BUSY);
    service.outcomes.push(BUSY, BUSY, BUSY);
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'service.busy' } });
    expect(sends()).toEqual([one.call, one.call, one.call]);
    expect(
      types().filter((type) => type === 'intent.judged'),
      'a look before each other send',
    ).toHaveLength(2);
  });

  test.for(ALL)(
    'that was throttled, and then lost its answer, is not sent a third time: $what',
    async (one) => {
      for (const outcome of [LOST, GONE]) {
        const { run, service, sends, waited } = begin(one, BUSY);
        service.outcomes.push(outcome);
        await run();
        expect(sends()).toEqual([one.call, one.call]);
        // The time in flight counts from the second arming.
        if (outcome === GONE) expect(waited()).toBeGreaterThanOrEqual(2_000 + 500);
      }
    },
  );

  test.for(ALL)(
    'is not sent again if the service has done what it refused in its answer: $what',
    async (one) => {
      for (const answer of ['busy', 'refused', 'unauthorised'] as const) {
        const { run, sends } = begin(one, { done: true, answer });
        let performed = await run();
        if (performed.how === 'paused') performed = await run();
        expect(performed).toMatchObject(
          TRACELESS.includes(one.what)
            ? { how: 'failed', failure: { code: 'doubt.no-trace' } }
            : { how: 'done', output: { landed: true, adopted: true } },
        );
        expect(sends()).toEqual([one.call]);
      }
    },
  );

  test.for(ALL)('is not sent again by another attempt if it shows only then: $what', async (one) => {
    const { run, service, sends, arrive } = begin(one, { done: false, answer: 'refused' });
    expect(await run()).toMatchObject({ how: 'failed', failure: { shortMessage: 'refused' } });
    service.outcomes.push(WHOLE);
    await arrive();
    const shown = sends().length;
    const performed = await run('I-2');
    expect(performed.how).toBe(TRACELESS.includes(one.what) ? 'failed' : 'done');
    expect(sends()).toHaveLength(shown);
  });

  test.for(ALL)('is sent by another attempt if nothing shows it: $what', async (one) => {
    const { run, sends } = begin(one, { done: false, answer: 'refused' });
    await run();
    expect(await run('I-2')).toMatchObject({ how: 'done', output: { landed: true } });
    expect(sends()).toEqual([one.call, one.call]);
  });

  test.for(ALL)('is not sent again while the service cannot be looked at: $what', async (one) => {
    const { run, service, sends } = begin(one, { done: false, answer: 'refused' });
    await run();
    service.beforeRead = () => {
      throw new LifeboatError('service.forbidden', 'the token may not look');
    };
    expect(await run('I-2')).toMatchObject({ how: 'failed', failure: { code: 'doubt.unreadable' } });
    expect(sends()).toEqual([one.call]);
  });

  test.for(TASKS)('is a question if what shows was begun some time after the refusal: $what', async (one) => {
    const { run, sends, pass, arrive } = begin(one, { done: false, answer: 'unauthorised' }, 900_000);
    await run();
    pass(90_000);
    await arrive();
    const shown = sends().length;
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'doubt.ambiguous' } });
    expect(sends()).toHaveLength(shown);
  });

  test.for(ALL)(
    'is not confused with a task begun when it can no longer be under way: $what',
    async (one) => {
      const { run, service, sends, pass, arrive } = begin(one, { done: false, answer: 'unauthorised' });
      await run();
      pass(90_000);
      service.outcomes.push(WHOLE, WHOLE);
      await arrive();
      const shown = sends().length;
      expect(await run()).toMatchObject({ how: 'done', output: { landed: true } });
      expect(sends()).toHaveLength(shown + 1);
    },
  );

  test.for(ALL)('is refused for a process that finds it throttled: $what', async (one) => {
    const { run, sends, die } = begin(one, BUSY);
    die('second intent.armed');
    await expect(run()).rejects.toThrow('died');
    expect(await run()).toMatchObject({ how: 'failed', failure: { code: 'service.busy' } });
    expect(sends()).toEqual([one.call]);
  });

  test.for(ALL)('pauses for new credentials and is then sent, once: $what', async (one) => {
    const { run, sends } = begin(one, { done: false, answer: 'unauthorised' });
    expect(await run()).toMatchObject({ how: 'paused', failure: { code: 'credentials.refused' } });
    expect(await run()).toMatchObject({ how: 'done' });
    expect(sends()).toEqual([one.call, one.call]);
  });

  test.for(ALL)('is not sent again by a process that finds it armed: $what', async (one) => {
    for (const outcome of [LOST, GONE, WHOLE]) {
      const { run, sends, die } = begin(one, outcome);
      die('intent.outcome');
      await expect(run()).rejects.toThrow('died');
      await run();
      expect(sends()).toEqual([one.call]);
    }
  });

  test.for(ALL)('is not sent when the process dies before it is armed on disk: $what', async (one) => {
    const { run, sends, die } = begin(one, WHOLE);
    die('intent.armed');
    await expect(run()).rejects.toThrow('died');
    expect(sends()).toEqual([]);
    expect(await run()).toMatchObject({ how: 'done', output: { landed: true } });
    expect(sends()).toEqual([one.call]);
  });
});

/** Their traces could be those of a restart. */
const TRACELESS = ['recreate', 'update'];

/** An old task of each kind. */
function listOld({ backups, restores }: FakeService): void {
  const triggered_at = '2026-01-01T00:00:00Z';
  backups.push(Backup.parse({ id: OLD, status: 'done', triggered_at }));
  restores.push(Restore.parse({ id: OLD, backup_id: 3, status: 'done', triggered_at }));
}

/** One intent of a verb, performed as by the runner, with notes that survive the death of the process. */
function begin({ verb, input }: Case, outcome: Outcome, inFlightMs = 2_000) {
  let nowMs = Date.parse('2026-03-01T03:00:00Z');
  const startMs = nowMs;
  let dieAt: string | undefined;
  const notes: (Note & { readonly at: string })[] = [];
  const service: FakeService = fakeService(() => nowMs, inFlightMs);
  service.outcomes.push(outcome);
  const write = async (added: readonly Note[]) => {
    for (const note of added) {
      const isSecond = notes.some(({ type }) => type === note.type);
      if ((isSecond ? `second ${note.type}` : note.type) === dieAt) {
        dieAt = undefined;
        throw new Error('died');
      }
      notes.push({ ...note, at: new Date(nowMs).toISOString() });
    }
  };
  const run = async (intent = 'I-1'): Promise<Performed> => {
    const performed = await perform(
      verb(service.deps),
      { id: 'it', verb: 'it', input: { intent, ...input } },
      contextOf(() => new Date(nowMs)),
      {
        write,
        entries: () => notes as unknown as Entry[],
        lastForCall: async () => undefined,
        mayArm: async () => undefined,
        seal: async () => undefined,
        sleep: async (ms) => {
          nowMs += ms;
        },
      },
    );
    await write(performed.notes);
    return performed;
  };
  const reads = new Set(['overview', 'backups', 'restores']);
  return {
    run,
    service,
    notes,
    sends: () => service.calls.filter((call) => !reads.has(call)),
    types: () => notes.map(({ type }) => type),
    waited: () => nowMs - startMs,
    /** The service does it without an answer to this journal. */
    arrive: () =>
      verb(service.deps).send(
        { intent: '', ...input } as never,
        contextOf(() => new Date(nowMs)),
        { tasks: [], skew: null },
      ),
    pass: (ms: number) => {
      nowMs += ms;
    },
    die: (type: string) => {
      dieAt = type;
    },
  };
}
