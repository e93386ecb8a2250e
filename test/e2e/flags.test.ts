import { describe, test } from 'vitest';
import { type Entry, LOG_STREAM } from '../../src/store/journal.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, ROTATE, useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('a run without a terminal', () => {
  const bench = useQuickBenches();

  test('stops at the first question that no flag answers, and names the flag that would', async (context) => {
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

  test('waits for a token that is not in the key store, and continues once it is', async (context) => {
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
    expect(stderr).toContain('the name does not match: type orders; nothing was sent');
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    expect(server.keys).toEqual([CANARIES.oldKey]);
  });

  test('--json prints only the journal, one entry a line as it is written', async (context) => {
    const { expect } = context;
    const { rotate, entries } = await bench(context);
    const { code, stdout } = await rotate('--json');
    expect(code).toBe(0);
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry & { readonly schema?: string })
      .map(({ schema, ...entry }) => {
        expect(schema).toBe('lifeboat.entry/1');
        return entry;
      });
    // What concerns the store itself belongs to no run.
    const written = (await entries()).filter(({ stream }) => stream !== LOG_STREAM);
    const key = ({ stream, seq }: Entry) => `${stream} ${seq}`;
    const sorted = (all: readonly Entry[]) =>
      all.toSorted((a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq);
    expect(sorted(printed)).toEqual(sorted(written));
    expect(new Set(printed.map(key)).size).toBe(written.length);
  });

  test('--json reports the question at which the run waits, in the form of an error', async (context) => {
    const { expect } = context;
    const { run } = await bench(context, { taskMs: 20 });
    const { code, stderr } = await run(...ROTATE, '--json', '--yes');
    const last = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as unknown;
    expect(last).toMatchObject({
      schema: 'lifeboat.error/1',
      code: 'run.waits',
      message: expect.stringContaining('--confirm orders'),
      runId: expect.stringMatching(/^\w+$/u),
      question: { kind: 'typed-name', expected: 'orders', options: expect.any(Array) },
      exit: code,
    });
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

  test('SIGINT while an answer is in progress waits for it', async (context) => {
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
  const bench = useQuickBenches();

  test.for([
    [['rnu'], "unknown command 'rnu'\nhint: the most similar: run"],
    [['backups', 'lsit'], "unknown command 'lsit'\nhint: the most similar: list"],
    [
      ['run', 'rotate-key', '--instnace', 'orders'],
      "unknown option '--instnace'\nhint: the most similar: --instance",
    ],
    [
      ['dr', 'perform', '--backup-gid', 'x'],
      "unknown option '--backup-gid'\nhint: the most similar: --backup-guid",
    ],
    [
      ['pitr', 'restore', '--instance', 'orders'],
      "required option '--to <time>' not specified\nhint: `lifeboat pitr restore --help`",
    ],
    [
      ['run', 'rotate-key'],
      'no instance is named, and lifeboat.yaml has 2\nhint: add --instance NAME: orders, orders-dr',
    ],
    [['run', 'rotate-kye', 'orders'], 'there is no runbook rotate-kye\nhint: the most similar: rotate-key'],
    [['run', 'rotate-key', 'oders'], 'hint: the most similar: orders\nhint: it has: orders, orders-dr'],
    [['run'], "missing required argument 'runbook'\nhint: the runbooks: restore-backup, "],
    [['keys', 'list', 'orders', '-i', 'orders-dr'], 'two instances are named: orders and orders-dr'],
    [['runs', '--json', '-o', 'yaml'], 'two output formats are named: yaml and json'],
    [['-o', 'json', '-o', 'yaml', 'runs'], '--output has two values: json and yaml'],
    [['runs', '--config', 'a', '--config=b'], '--config has two values: a and b'],
    [['--config', 'a', 'runs', '--config', 'b'], '--config has two values: a and b'],
    [
      ['backups', 'create', '-i', 'orders', '-i', 'orders-dr'],
      '--instance has two values: orders and orders-dr',
    ],
    [
      ['-i', 'orders', 'status'],
      "unknown option '-i'\nhint: it goes after the command: lifeboat COMMAND -i NAME",
    ],
    [
      ['backups', '--instance', 'orders', 'list'],
      "unknown option '--instance'\nhint: it goes after the command: lifeboat backups COMMAND --instance NAME",
    ],
    [['status', '-i', 'oders'], 'hint: the most similar: orders\n'],
    [['resume', '--became', 'nothing'], '--became needs --reason'],
    [['lab', '--scenario', 'strom'], 'there is no scenario strom\nhint: the most similar: storm'],
    [
      ['run', 'change-instance', 'orders', '--action', 'restrat'],
      'Allowed choices are restart, recreate, update\nhint: the most similar: restart',
    ],
    [
      ['report', 'last', '--format', 'htlm'],
      'Allowed choices are md, json, html\nhint: the most similar: html',
    ],
    [['help', 'nosuch'], 'there is no command lifeboat nosuch\nhint: `lifeboat --help` lists the commands'],
    [['help', 'audit', 'verfy'], 'there is no command lifeboat audit verfy\nhint: the most similar: verify'],
    [
      ['run', 'rotate-key', 'orders', '--dry-run', '--yes'],
      "option '--dry-run' cannot be used with option '--yes'",
    ],
    [['schema', 'run'], 'there is no schema run\nhint: the most similar: runs'],
  ] as const)(
    '%j is refused, and the first line says what is wrong with it',
    async ([args, words], context) => {
      const { expect } = context;
      const { code, stderr } = await (await bench(context)).here(...args);
      // For a program, the same is one object.
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    },
  );

  test.for([
    [['-o', 'json', 'runs', '--oepn'], 'usage.option'],
    [['runs', '--json', '--oepn'], 'usage.option'],
    [['--output=json', 'backups'], 'usage.command'],
    [['-ojson', 'keys', 'list', 'oders'], 'config.instance'],
    [['resume', 'last', '-o', 'yaml'], 'run.unknown'],
  ] as const)('%j is refused in a form that programs can read', async ([args, code], context) => {
    const { expect } = context;
    const ended = await (await bench(context)).run(...args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(ended.stderr)).toMatchObject({ schema: 'lifeboat.error/1', code, exit: 2 });
  });

  test('takes its common flags before or after the command, and the instance in two ways', async (context) => {
    const { expect } = context;
    const { run, env } = await bench(context);
    const { LIFEBOAT_CONFIG: config = '' } = env;
    const lines = [
      ['--config', config, '-o', 'json', 'backups', 'list', 'orders'],
      ['backups', '--json', 'list', '-i', 'orders'],
      ['backups', 'list', '--instance=orders', 'orders', '-o', 'json', '--config', config],
    ];
    const said = await Promise.all(lines.map(async (line) => (await run(...line)).stdout));
    expect(said[0]).toContain('"schema":"lifeboat.backups/1","instance":"orders"');
    expect(new Set(said).size).toBe(1);
  });

  test('that uses a key of an instance says so when there is no such instance', async (context) => {
    const { expect } = context;
    const { here, server } = await bench(context);
    const into = ['dr', 'perform', 'orders-dr', '--backup-guid', 'x', '--confirm', 'orders-dr'];
    const ended = await here(...into, '--source', 'ordrs');
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/there is no instance ordrs in .*\nhint: the most similar: orders\n/u),
    ]);
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test('accepts the same value given twice', async (context) => {
    const { expect } = context;
    const { here } = await bench(context);
    const ended = await here('-o', 'json', '-o', 'json', 'runs', '--json');
    expect([ended.code, itemsIn(ended.stdout)], ended.stderr).toEqual([0, []]);
  });

  test('lists the runbooks in the same order everywhere', async (context) => {
    const { expect } = context;
    const { here } = await bench(context);
    const listed = await Promise.all([here('run'), here('run', 'nope')]);
    const orders = listed.map(({ stderr }) => /^hint: the runbooks: (.*)$/mu.exec(stderr)?.[1]);
    expect(orders).toEqual([expect.stringMatching(/^restore-backup, /u), orders[0]]);
  });

  test('names a run by the beginning of its id, or with the word last', async (context) => {
    const { expect } = context;
    const { here, run, rotate } = await bench(context);
    await rotate();
    expect((await run('run', 'back-up-and-verify', 'orders', '--yes')).code).toBe(0);
    const ids = itemsIn<{ runId: string }>((await here('runs', '--json')).stdout).map(({ runId }) => runId);
    const [first = '', second = ''] = ids;
    const reported = async (word: string) =>
      JSON.parse((await here('report', word, '-o', 'json')).stdout).run.id as string;
    expect(await reported('last')).toBe(second);
    expect(await reported(first.slice(0, 24).toLowerCase())).toBe(first);
    expect((await here('audit', 'show', 'last')).stdout).toContain(second);
    expect((await here('audit', 'show', '-i', 'ordrs')).stderr).toContain(
      'instance ordrs\nhint: the most similar: orders\nhint: on record: orders\n',
    );
    expect((await here('report', '')).stderr).toContain("there is no run ''");
    expect((await here('report', first.slice(0, 4))).stderr).toContain('there is more than one run');
  });
});
