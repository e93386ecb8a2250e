import { describe, test } from 'vitest';
import { type Entry, LOG_STREAM } from '../../src/store/journal.ts';
import { changes, typesOf, useBenches } from './scene.ts';
import { ANSWERED, CANARIES, ROTATE } from './test-bench.ts';

describe.concurrent('a run without a terminal', () => {
  const bench = useBenches();

  test('stops at the first question that no flag answers, and says which flag would', async (context) => {
    const { expect } = context;
    const { server, run } = await bench(context);
    const first = await run(...ROTATE);
    expect(first.code, first.stderr).toBe(3);
    expect(first.stderr).toContain('--yes takes the recommended one');
    const second = await run('resume', '--yes');
    expect(second.code, second.stderr).toBe(3);
    expect(second.stderr).toContain('--confirm orders');
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    const third = await run('resume', ...ANSWERED);
    expect(third.code, third.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
  });

  test('waits for a token that is not in the key store, and goes on once it is', async (context) => {
    const { expect } = context;
    const { run, rotate, tokenFile } = await bench(context, { tokenSource: '{ keychain: true }' });
    const without = await rotate();
    expect(without.code, without.stderr).toBe(4);
    expect(without.stderr).toContain('lifeboat keys add orders --token');
    const stored = await run('keys', 'add', 'orders', '--token', '--file', tokenFile);
    expect(stored.code, stored.stderr).toBe(0);
    const resumed = await run('resume', ...ANSWERED);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test('a wrong name changes nothing', async (context) => {
    const { expect } = context;
    const { server, run } = await bench(context);
    const { code, stderr } = await run(...ROTATE, '--yes', '--confirm', 'order');
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('that is not the name');
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    expect(server.keys).toEqual([CANARIES.oldKey]);
  });

  test('--json prints the journal, one entry a line as it is written, and nothing else', async (context) => {
    const { expect } = context;
    const { rotate, entries } = await bench(context);
    const { code, stdout } = await rotate('--json');
    expect(code).toBe(0);
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
    // What concerns the store itself belongs to no run.
    const written = (await entries()).filter(({ stream }) => stream !== LOG_STREAM);
    const key = ({ stream, seq }: Entry) => `${stream} ${seq}`;
    const sorted = (all: readonly Entry[]) =>
      all.toSorted((a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq);
    expect(sorted(printed)).toEqual(sorted(written));
    expect(new Set(printed.map(key)).size).toBe(written.length);
  });

  test('a second run of the same instance is refused while the first is open', async (context) => {
    const { expect } = context;
    const { run } = await bench(context);
    expect((await run(...ROTATE)).code).toBe(3);
    const { code, stderr } = await run(...ROTATE);
    expect(code).toBe(3);
    expect(stderr).toMatch(/is still open/);
    expect((await run('resume', '--abandon', 'a test')).code).toBe(0);
    expect((await run(...ROTATE)).code).toBe(3);
  });

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s while a backup is made leaves a run that is resumed without a second backup',
    async (signal, context) => {
      const { expect } = context;
      const asked = Promise.withResolvers<void>();
      const { server, start, run, entries } = await bench(context, {
        taskMs: 1500,
        trouble: ({ path }) => {
          if (server !== undefined && changes(server).posts === 1 && /\d$/.test(path)) asked.resolve();
          return undefined;
        },
      });
      const { child, ended } = start(...ROTATE, ...ANSWERED);
      await asked.promise;
      child.kill(signal);
      const { code, stderr } = await ended;
      expect(code, stderr).toBe(130);
      expect(typesOf(await entries(), 'run').at(-1)).toBe('run.detached');
      const resumed = await run('resume', ...ANSWERED);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(changes(server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
    },
  );

  test('SIGINT while an answer is under way waits for it', async (context) => {
    const { expect } = context;
    const asked = Promise.withResolvers<void>();
    const { server, start, run, entries } = await bench(context, {
      trouble: ({ method }) => {
        if (method !== 'POST') return undefined;
        asked.resolve();
        return { answerAfterMs: 700 };
      },
    });
    const { child, ended } = start(...ROTATE, ...ANSWERED);
    await asked.promise;
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(130);
    expect(typesOf(await entries(), 'run')).toContain('intent.outcome');
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
    expect(changes(server)).toMatchObject({ posts: 1 });
  });

  test('two processes do not drive the same run', async (context) => {
    const { expect } = context;
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { server, start, run } = await bench(context, {
      trouble: async ({ method }) => {
        if (method !== 'PATCH') return undefined;
        asked.resolve();
        await release.promise;
        return undefined;
      },
    });
    const first = start(...ROTATE, ...ANSWERED);
    await asked.promise;
    const second = await run('resume', ...ANSWERED);
    expect(second.code, second.stderr).not.toBe(0);
    expect(second.stderr).toContain(String(first.child.pid));
    release.resolve();
    expect((await first.ended).code).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
  });
});

describe.concurrent('a command line', () => {
  const bench = useBenches();

  test.for([
    [
      ['run', 'rotate-key', '--instnace', 'orders'],
      "unknown option '--instnace'\n(Did you mean --instance?)",
    ],
    [['dr', 'perform', '--backup-gid', 'x'], "unknown option '--backup-gid'\n(Did you mean --backup-guid?)"],
    [['pitr', 'restore', '--instance', 'orders'], "required option '--to <time>' not specified"],
    [['run', 'rotate-key'], "required option '--instance <name>' not specified"],
    [['run'], "missing required argument 'runbook'"],
  ] as const)(
    '%j is refused, and the first line says what is wrong with it',
    async ([args, words], context) => {
      const { expect } = context;
      const { code, stderr } = await (await bench(context)).run(...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
      const lists = /^ {2}rotate-key .*\n(?: {2}[a-z-]+ .*\n)+$/mu.test(stderr);
      expect(lists).toBe(args.length === 1);
    },
  );
});
