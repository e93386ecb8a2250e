import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { outputOf, provenIn, statesOf, typesOf } from '../bench-kit/entries-of.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const LOST: Trouble = { answer: 'lost' };
const NEVER_ARRIVED: Trouble = { work: false, answer: 'lost' };

/** Trouble for the first call of a method, and none afterwards. */
function firstOf(method: 'PATCH' | 'POST', trouble: Trouble) {
  let isFirst = true;
  return (call: { readonly method: string }): Trouble | undefined => {
    if (call.method !== method || !isFirst) return undefined;
    isFirst = false;
    return trouble;
  };
}

describe.concurrent('a lost answer to the change of the key', () => {
  const bench = useQuickBenches();

  test('KEY UNCERTAIN: both keys are kept and the next backup proves the new one', async (context) => {
    const { expect } = context;
    const { server, rotate, entries, vault } = await bench(context, { trouble: firstOf('PATCH', LOST) });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(0);
    const journal = await entries();
    expect(statesOf(journal)).toContain('change.inDoubt');
    expect(typesOf(journal, 'instance')).toEqual([
      'key.proven',
      'key.pending',
      'key.sent',
      'key.uncertain',
      'key.set',
      'key.proven',
      'follow-up.opened',
    ]);
    expect([...(await vault()).values()].toSorted()).toEqual([...server.keys].toSorted());
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
  });

  test('the backup shows that a change did not take effect, and nothing is sent again without a person', async (context) => {
    const { expect } = context;
    const answer = { status: 502, body: { error: 'badGateway', description: 'upstream' } };
    const { server, rotate, run, entries, vault } = await bench(context, {
      trouble: firstOf('PATCH', { work: false, answer }),
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/backup \d+ opens with key [0-9a-f]{12}, not with the new one/);
    expect(stderr).toMatch(/hint: resume with: lifeboat resume \w+/);
    const journal = await entries();
    expect(statesOf(journal).at(-1)).toBe('change.notInForce');
    expect(typesOf(journal, 'instance')).toEqual([
      'key.proven',
      'key.pending',
      'key.sent',
      'key.uncertain',
      'key.refuted',
    ]);
    expect(server.keys).toEqual([CANARIES.oldKey]);
    expect([...(await vault()).values()]).toContain(CANARIES.oldKey);
    expect((await vault()).size).toBe(2);

    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(3);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
    const open = await run('runs', '--open', '--json');
    expect(itemsIn(open.stdout)).toMatchObject([{ status: 'open', where: 'the new key is not in force' }]);
  });
});

describe.concurrent('a lost answer to the request for a backup', () => {
  const bench = useQuickBenches();

  test.for([
    { what: 'the connection broke', trouble: LOST },
    {
      what: 'the router gave up',
      trouble: { answer: { status: 504, body: '<html>504</html>', html: true } },
    },
    {
      what: 'a login page came back',
      trouble: { answer: { status: 200, body: '<html>log in</html>', html: true } },
    },
    { what: 'it arrives late', trouble: { workAfterMs: 700, answer: 'lost' } },
  ] satisfies { what: string; trouble: Trouble }[])(
    'the backup that it made is adopted, and no second request is sent: $what',
    async ({ trouble }, context) => {
      const { expect } = context;
      const { server, rotate, entries } = await bench(context, {
        trouble: firstOf('POST', trouble),
        inFlight: '3s',
      });
      const { code, stderr } = await rotate();
      expect(code, stderr).toBe(0);
      expect(changes(server)).toMatchObject({ posts: 1, postsDone: 1 });
      expect(outputOf(await entries(), 'createBackup-backup')).toMatchObject({ landed: true, adopted: true });
    },
  );

  test('a request that never arrived is sent once more, after the in-flight window and as a new intent', async (context) => {
    const { expect } = context;
    const trouble = firstOf('POST', NEVER_ARRIVED);
    const { server, rotate, entries } = await bench(context, { trouble, idsInRow: true });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(0);
    expect(changes(server)).toMatchObject({ posts: 2, postsDone: 1 });
    const run = (await entries()).filter(({ stream }) => stream.startsWith('run/'));
    const intents = run.filter(({ type }) => type.startsWith('intent.'));
    expect(intents.map(({ type, body }) => `${type} ${(body as { intent: string }).intent}`)).toEqual([
      'intent.prepared backup-1',
      'intent.armed backup-1',
      'intent.outcome backup-1',
      'intent.judged backup-1',
      'intent.prepared backup-2',
      'intent.armed backup-2',
      'intent.outcome backup-2',
    ]);
    const [armed, judged] = ['intent.armed', 'intent.judged'].map((type) =>
      Date.parse(run.find((entry) => entry.type === type)?.at ?? ''),
    );
    expect(Number(judged) - Number(armed)).toBeGreaterThanOrEqual(1000);
  });

  test('a request that may be missing from the list leads to a question, and nothing is sent until it is answered', async (context) => {
    const { expect } = context;
    const { server, rotate } = await bench(context, { trouble: firstOf('POST', NEVER_ARRIVED) });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('the list of backups shows none, but it may leave out the newest');
    expect(changes(server)).toMatchObject({ posts: 1, postsDone: 0 });
  });

  test('two backups that could be ours lead to a question, and nothing is sent until it is answered', async (context) => {
    const { expect } = context;
    let isFirst = true;
    const { server, rotate, run, entries } = await bench(context, {
      trouble: async ({ method }) => {
        if (method !== 'POST' || !isFirst) return undefined;
        isFirst = false;
        await server.schedule();
        return LOST;
      },
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('the service shows 2 new backups');
    expect(statesOf(await entries()).at(-1)).toBe('backup.inDoubt');
    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(5);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
  });

  test('a list that cannot be read proves nothing', async (context) => {
    const { expect } = context;
    let isLost = false;
    // Torn answers and pages of a proxy are looked at again for two minutes before a person is asked.
    const refusal: Trouble = { answer: { status: 403, body: '{"message":"not for you"}' } };
    const { server, rotate, run } = await bench(context, {
      trouble: ({ method, path }) => {
        if (method === 'POST') {
          isLost = true;
          return LOST;
        }
        return isLost && path.endsWith('/backups') ? refusal : undefined;
      },
    });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('cannot be asked what became of the request');
    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(5);
    expect(changes(server)).toMatchObject({ posts: 1 });
  });
});

describe.concurrent('an untrue answer', () => {
  const bench = useQuickBenches();
  const TURNED_AWAY: Trouble = {
    answer: { status: 429, body: '<html>429 Too Many Requests</html>', html: true },
  };

  test('a run whose backup was made although the answer refused it sends no second request', async (context) => {
    const { expect } = context;
    const { server, rotate, entries } = await bench(context, { trouble: firstOf('POST', TURNED_AWAY) });
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(0);
    expect(changes(server)).toMatchObject({ posts: 1, postsDone: 1 });
    expect(outputOf(await entries(), 'createBackup-backup')).toMatchObject({ landed: true, adopted: true });
  });

  test('a restore that was started although the answer refused it is started once, by a single command and by a run', async (context) => {
    const { expect } = context;
    const restore = {
      command: ['backups', 'restore', '--instance', 'orders'],
      run: ['run', 'restore-backup', '--instance', 'orders', '--backup'],
    };
    for (const words of Object.values(restore)) {
      const isRestore = ({ path }: { readonly path: string }) => path.endsWith('/restore');
      const trouble = (call: { readonly method: string; readonly path: string }) =>
        isRestore(call) ? TURNED_AWAY : undefined;
      const { server, run } = await bench(context, { trouble });
      const [backup] = server.backups;
      const { code, stderr } = await run(...words, String(backup?.id), '--yes', '--confirm', 'orders');
      expect([0, 3], stderr).toContain(code);
      expect(server.calls.filter(isRestore)).toHaveLength(1);
      expect(server.instance('orders').restores).toHaveLength(1);
    }
  });

  test.for([{ work: false }, { work: true }])(
    'an answer that names an older backup as the new one proves nothing: %o',
    async ({ work }, context) => {
      const { expect } = context;
      const { server, rotate, entries } = await bench(context, {
        trouble: ({ method }) => {
          if (method !== 'POST') return undefined;
          const old = server.backups.find(({ status }) => status === 'done');
          return { work, answer: { status: 200, body: { id: old?.id, message: 'queued' } } };
        },
      });
      const { code, stderr } = await rotate();
      expect(code, stderr).toBe(work ? 0 : 5);
      if (!work) expect(stderr).toMatch(/named backup \d+, which was there before it/);
      expect(changes(server)).toMatchObject({ posts: 1 });
      expect(provenIn(await entries())).toHaveLength(work ? 2 : 1);
    },
  );
});
