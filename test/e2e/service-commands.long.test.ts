import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import type { Revision } from '../bench-kit/foreign/options.ts';
import type { Running } from '../bench-kit/product.ts';
import { answerIn, itemsIn } from '../bench-kit/results.ts';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { hasPast } from './flows.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;

describe.concurrent('every endpoint from the command line', { timeout: 1_200_000 }, () => {
  const bench = useQuickBenches();

  // One that spells its answers like the document is the lab, which lab-commands.long.test.ts asks for all of
  // this.
  test.for([{ revision: 62 }, { revision: 61 }] as const)(
    'works with an unusual service of revision $revision, and no request is refused for a fault of ours',
    async ({ revision }, context) => {
      const { expect } = context;
      const home = await bench(context, { revision, taste: 'odd', taskMs: 50, configRevision: 'auto' });
      const { server } = home;
      const json = async (...args: string[]) => answerIn(await good(home, ...args, '--json'));

      const [backup] = await json('backups', 'list', ...ORDERS);
      expect(await json('backups', 'get', `${backup.id}`, ...ORDERS)).toMatchObject({
        id: backup.id,
        status: 'done',
      });
      expect(await json('restores', 'list', ...ORDERS)).toEqual([]);
      expect(await json('backup-config', 'get', ...ORDERS)).toMatchObject({ min_encryption_key_length: 12 });
      expect(await json('instance', 'show', ...ORDERS)).toMatchObject({ state: 'available' });
      expect((await json('metrics', '--quantity', '3', ...ORDERS)).length).toBe(3);
      const pathsOf = async (...args: string[]) =>
        ((await json('metrics', ...args, ...ORDERS)) as string[]).map((point) => point.split(' ')[0] ?? '');
      const [all, some] = [await pathsOf(), await pathsOf('--path', 'parachute')];
      expect(new Set(some)).toEqual(new Set(all.filter((path) => path.includes('parachute'))));
      expect(some).not.toEqual([]);
      expect(await json('pitr', 'show', ...ORDERS)).toMatchObject({ start_time: expect.any(String) });

      const made = await json('backups', 'create', ...ORDERS, '--yes', '--wait');
      expect(made).toMatchObject({ status: 'done' });
      const file = join(home.folder, 'backup.tgz.enc');
      await good(home, 'backups', 'download', `${made.id}`, ...ORDERS, '--out', file);
      await good(home, 'verify', file, ...ORDERS);

      const before = server.instance('orders').data();
      await server.instance('orders').write(Buffer.from('an accident'));
      const restored = await json('backups', 'restore', `${made.id}`, ...SURE, '--wait');
      expect(restored).toMatchObject({ status: 'done' });
      expect(server.instance('orders').data()).toEqual(before);
      expect((await json('restores', 'list', ...ORDERS)).map(({ id }: { id: number }) => id)).toEqual([
        restored.id,
      ]);
      await good(home, 'restores', 'get', `${restored.id}`, ...ORDERS);

      const settings = [
        '--min-backup-count',
        '2',
        '--retention-time',
        '9',
        '--exclude-from-auto-backup',
        'false',
      ];
      const set = await good(home, 'backup-config', 'set', ...settings, ...ORDERS, '--yes', '--json');
      expect(JSON.parse(set)).toMatchObject({ settings: { minBackupCount: 2 } });
      await good(home, 'backup-config', 'set', '--new-key', ...SURE);
      const prepared = await good(home, 'dr', 'prepare', ...ORDERS, '--yes', '--json');
      const { backupGuid: guid } = JSON.parse(prepared);
      const fresh = await json('backups', 'create', ...ORDERS, '--yes', '--wait');
      expect(fresh.status).toBe('done');
      const key = itemsIn<{ state: string; fingerprint: string }>(
        await good(home, 'keys', 'list', 'orders', '--json'),
      ).find(({ state }) => state === 'set');
      const target = ['--instance', 'orders-dr', '--confirm', 'orders-dr'];
      const performed = [
        'dr',
        'perform',
        '--backup-guid',
        guid,
        '--source',
        'orders',
        '--key',
        key?.fingerprint ?? '',
      ];
      expect(await json(...performed, ...target, '--wait', '--no-follow-ups', 'a test')).toMatchObject({
        status: 'done',
      });
      expect(server.instance('orders-dr').data()).toEqual(server.instance('orders').data());

      for (const verb of ['restart', 'recreate', 'update'])
        await good(home, 'instance', verb, ...(verb === 'recreate' ? SURE : [...ORDERS, '--yes']), '--wait');
      if (revision === 61) {
        await good(home, 'instance', 'settings', '--allow-updates', 'false', ...ORDERS, '--yes');
      } else {
        await hasPast(home);
        const { end_time: end } = await json('pitr', 'show', ...ORDERS);
        const then = new Date(Date.parse(end) - 2_000).toISOString();
        expect(await json('pitr', 'restore', '--to', then, ...SURE, '--wait')).toMatchObject({
          status: 'done',
        });
      }
      const refusals = server.calls.filter(({ answered }) => Number(answered) >= 400);
      // Finding the revision out asks for a download that cannot exist.
      expect(refusals.filter(({ path }) => !path.endsWith('/backups/0/download'))).toEqual([]);
      const audit = await home.run('audit', 'verify');
      expect(audit.code, audit.stdout).toBe(0);
    },
  );

  test.for(['odd', 'plain'] as const)(
    'of V0 works with a service that has nothing else (%s)',
    async (taste, context) => {
      const { expect } = context;
      const home = await bench(context, { revision: 'v0', taste, taskMs: 50, configRevision: 'auto' });
      const list = answerIn(await good(home, 'backups', 'list', ...ORDERS, '--json'));
      const id = list.backups[0].id;
      await good(home, 'backups', 'get', `${id}`, ...ORDERS);
      await good(home, 'backups', 'create', ...ORDERS, '--yes', '--wait');
      const file = join(home.folder, 'backup.tgz.enc');
      await good(home, 'backups', 'download', `${id}`, ...ORDERS, '--out', file);
      await good(home, 'verify', file, ...ORDERS);
      await good(home, 'backups', 'restore', `${id}`, ...SURE, '--wait');
      await good(home, 'restores', 'list', ...ORDERS);
      const restart = await home.run('instance', 'restart', ...ORDERS, '--yes');
      expect(restart.stderr).toContain('v0 of the service cannot restart the instance');
      expect(restart.code).toBe(2);
      const rotation = await home.run('run', 'rotate-key', ...SURE, '--yes');
      expect(rotation.stderr).toContain(
        'rotate-key cannot be run on orders: interface v0 of the service cannot change',
      );
      expect(rotation.code).toBe(2);
      const runs = itemsIn<{ runbook: string }>((await home.run('runs', '--json')).stdout);
      expect(runs.map(({ runbook }) => runbook)).toEqual(['single-change', 'single-change']);
      const { code, stderr } = await home.run('instance', 'show', ...ORDERS);
      expect(code).toBe(2);
      expect(stderr).toContain('v0 of the service cannot describe the instance');
      expect(home.server.calls.filter(({ answered }) => answered === 401 || Number(answered) >= 500)).toEqual(
        [],
      );
    },
  );
});

describe.concurrent('values', () => {
  const bench = useQuickBenches();

  test.for([
    [['metrics', '--quantity', '0'], 'at least 1'],
    [['metrics', '--quantity', '1.5'], 'whole number'],
    [['backups', 'get', 'abc'], 'whole number'],
    [['backup-config', 'set', '--retention-time', '-1', '--yes'], 'at least 0'],
    [['backup-config', 'set', '--min-backup-count', 'many', '--yes'], 'whole number'],
    [['backup-config', 'set', '--yes'], 'no setting is named'],
    [['pitr', 'restore', '--to', 'yesterday', '--confirm', 'orders'], 'the time of the day is missing'],
    [['pitr', 'restore', '--to', 'soon', '--confirm', 'orders'], 'is not a time that can be read'],
    [['backups', 'restore', '900041', '--confirm', 'orders-dr'], 'the instance is orders'],
    [['instance', 'settings', '--allow-updates', 'true', '--yes'], 'only revision 61 can'],
    [['backup-config', 'set', '--ask-key', '--confirm', 'orders'], 'no terminal to enter'],
    [['backup-config', 'set', '--new-key', '--key-file', 'x', '--confirm', 'orders'], 'cannot be used with'],
    [['dr', 'perform', '--backup-guid', '', '--confirm', 'orders'], 'the backup_guid is empty'],
    [['backups', 'download', '900041', '--out', '/nowhere/file'], 'is not an existing folder'],
    [['backups', 'download', '900041', '--out', '/tmp'], 'is a folder'],
  ] as const)(
    'that cannot be right are refused before anything is sent: %s',
    async ([args, words], context) => {
      const { expect } = context;
      const { run, server } = await bench(context);
      const { code, stderr } = await run(...args, ...ORDERS);
      expect(stderr).toContain(words);
      expect(code).toBe(2);
      expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );

  test('for a time out of range are refused, and one close to an edge needs a reason', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    await hasPast(home);
    const { stdout } = await home.run('pitr', 'show', ...ORDERS, '--json');
    const first = answerIn(stdout).start_time;
    const outside = await home.run('pitr', 'restore', '--to', '2001-01-01T00:00:00Z', ...SURE);
    expect(outside.stderr).toContain('outside of the range that can be restored');
    // The limits of the service, not those that a margin leaves.
    expect(outside.stderr).toContain(`oldest: ${new Date(first).toISOString()}`);
    expect(outside.code).toBe(2);
    const edge = await home.run('pitr', 'restore', '--to', first, ...SURE);
    expect(edge.stderr).toContain('close to an edge of the range');
    expect(edge.stderr).toContain('--anyway REASON');
    expect(edge.code).toBe(3);
    expect(home.server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    const passed = await home.run(
      'pitr',
      'restore',
      '--to',
      first,
      ...SURE,
      '--anyway',
      'only then it was right',
    );
    expect(passed.stderr).toContain('overridden: ');
    expect(home.server.calls.filter(({ path }) => path.endsWith('/pitr/restore'))).toHaveLength(1);
  });

  test('for a key that is too short are refused before anything is stored or sent', async (context) => {
    const { expect } = context;
    const { run, server, folder, vault } = await bench(context);
    writeFileSync(join(folder, 'short'), 'too-short', { mode: 0o600 });
    const { code, stderr } = await run('backup-config', 'set', '--key-file', join(folder, 'short'), ...SURE);
    expect(stderr).toContain('the key has 9 characters, the service requires at least 12');
    expect(code).toBe(2);
    expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect((await vault()).size).toBe(1);
  });
});

describe.concurrent('a change', () => {
  const bench = useQuickBenches();

  test.for([
    [['backups', 'create'], '--yes'],
    [['instance', 'restart'], '--yes'],
    [['backups', 'restore', '900041'], '--confirm orders'],
    [['instance', 'recreate', '--yes'], '--confirm orders'],
    [['backup-config', 'set', '--new-key', '--yes'], '--confirm orders'],
  ] as const)('is not made without agreement: %s', async ([args, hint], context) => {
    const { expect } = context;
    const { run, server } = await bench(context);
    const { code, stderr } = await run(...args, ...ORDERS);
    expect(stderr).toContain(`to do it: add ${hint}`);
    expect(code).toBe(3);
    expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('is a recorded run with its author and its reason', async (context) => {
    const { expect } = context;
    const { run, entries } = await bench(context, { taskMs: 20 });
    await run('backups', 'create', ...ORDERS, '--yes', '--reason', 'before the move');
    const types = typesOf(await entries(), 'run');
    expect(types[0]).toBe('run.started');
    expect(types.at(-1)).toBe('run.closed');
    expect(types.filter((type) => type.startsWith('intent.'))).toEqual([
      'intent.prepared',
      'intent.armed',
      'intent.outcome',
    ]);
    const { stdout } = await run('audit', 'show', 'last');
    expect(stdout).toMatch(/Robin started single-change .*because: before the move/u);
  });

  test('whose answer is lost is found in the list and not sent again', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context, { taskMs: 20, trouble: lostPost() });
    const { code, stdout, stderr } = await run('backups', 'create', ...ORDERS, '--yes', '--json');
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schema: 'lifeboat.change/1',
      instance: 'orders',
      run: expect.any(String),
      id: Math.max(...server.backups.map(({ id }) => id)),
    });
    expect(server.calls.filter(({ method }) => method === 'POST').length).toBe(1);
  });

  test('whose answer is lost and that never arrived is shown as not done', async (context) => {
    const { expect } = context;
    const { run } = await bench(context, { trouble: lostPost({ work: false }) });
    const { code, stderr } = await run('backups', 'restore', '900041', ...SURE);
    expect(stderr).toContain('the request for a restore never arrived');
    const [, anchor = ''] = /^anchor for the ticket: (lifeboat:[0-9a-f]{16}:\S+)$/mu.exec(stderr) ?? [];
    expect((await run('audit', 'anchor')).stdout.trim()).toBe(anchor);
    expect((await run('audit', 'verify', '--anchor', anchor)).code).toBe(0);
    expect(code).toBe(1);
  });

  test('whose process was killed while sending it is looked up by the next command, which sends nothing', async (context) => {
    const { expect } = context;
    let killed: (() => void) | undefined;
    const { run, start, server } = await bench(context, {
      taskMs: 20,
      trouble: ({ method }) => {
        if (method !== 'POST') return undefined;
        killed?.();
        return { answerAfterMs: 60_000 };
      },
    });
    const first = start('backups', 'restore', '900041', ...SURE);
    killed = () => first.child.kill('SIGKILL');
    await first.ended;
    expect(server.calls.filter(({ method }) => method === 'POST').length).toBe(1);
    const second = await run('backups', 'restore', '900041', ...SURE);
    expect(second.stderr).toContain('has arrived');
    expect(second.code).toBe(3);
    expect(server.calls.filter(({ method }) => method === 'POST').length).toBe(1);
  });

  test('whose outcome is not visible asks for a person, exits with 5, and waits for a decision', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context, {
      taskMs: 20,
      trouble: first(({ method }) => method === 'PATCH', { work: false, answer: 'lost' }),
    });
    const restart = ['instance', 'restart', ...ORDERS, '--yes'];
    const doubtful = await run(...restart);
    expect(doubtful.stderr).toMatch(/lifeboat resume \w+ --became done\|nothing --reason WHY/u);
    expect(doubtful.code).toBe(5);
    expect((await run(...restart)).code).toBe(5);
    expect((await run('backups', 'create', ...ORDERS, '--yes')).code).toBe(5);
    expect(server.calls.filter(({ method }) => method !== 'GET').length).toBe(1);
    const open = await run('runs', '--in-doubt', '--json');
    expect(itemsIn(open.stdout)).toMatchObject([{ instance: 'orders', verb: 'restart' }]);
    const resolve = ['resume', 'last', '--became', 'nothing', '--reason', 'I looked at the dashboard'];
    expect((await run(...resolve)).code).toBe(0);
    expect((await run(...resolve)).code).toBe(2);
    const goesOn = await run(...restart);
    expect(goesOn.code, goesOn.stderr).toBe(0);
    expect(server.calls.filter(({ method }) => method !== 'GET').length).toBe(2);
    expect((await run('audit', 'show', ...ORDERS)).stdout).toContain(
      'decided: the request to restart the instance became nothing',
    );
  });

  test('that the service answers with an error is reported in the words of the service, even if it did nothing', async (context) => {
    const { expect } = context;
    const body = { error: 'busyNow', description: 'somebody else is at it' };
    const { run } = await bench(context, {
      idsInRow: true,
      trouble: first(({ method }) => method === 'POST', { work: false, answer: { status: 409, body } }),
    });
    const { code, stderr } = await run('backups', 'create', ...ORDERS, '--yes');
    expect(stderr).toContain('(409): "somebody else is at it"');
    expect(stderr).not.toContain('lost');
    expect(code).toBe(1);
  });

  test.for(['restart', 'recreate', 'update'])(
    'of the instance that is refused because the same is in progress was not done, and is not in doubt: %s',
    async (action, context) => {
      const { expect } = context;
      const body = { error: 'Conflict', description: 'the same action is already in progress' };
      const { run, server } = await bench(context, {
        revision: 61,
        trouble: first(({ method }) => method === 'PATCH', { work: false, answer: { status: 409, body } }),
      });
      const words = ['instance', action, ...ORDERS, '--yes', '--confirm', 'orders'];
      const { code, stderr } = await run(...words);
      expect(stderr).toContain(' of the instance is in progress already');
      expect(stderr).toContain('nothing was done');
      expect(code, stderr).toBe(1);
      expect((await run('runs', '--in-doubt')).stdout).not.toContain(action);
      expect(server.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
    },
  );

  test('is not made a second time while the first is under way, unless explicitly requested', async (context) => {
    const { expect } = context;
    const free = Promise.withResolvers<void>();
    const { run, start, server } = await bench(context, {
      taskMs: 20,
      trouble: ({ method }) => (method === 'POST' ? { task: { until: free.promise } } : undefined),
    });
    const restore = ['backups', 'restore', '900041', ...SURE, '--no-follow-ups', 'a script'];
    const left = start(...restore, '--wait');
    await seen(left, 'running');
    left.child.kill('SIGINT');
    const { code, stderr } = await left.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/to go on: lifeboat resume \w+/);
    const again = await run(...restore);
    expect(again.stderr).toMatch(/run \w+ on orders is still open/);
    expect(again.code).toBe(3);
    expect(server.calls.filter(({ method }) => method === 'POST').length).toBe(1);
    const [id] = server.instance('orders').restores.map((task) => task.id);
    free.resolve();
    const waited = await run('restores', 'get', `${id}`, '--wait', '--json', ...ORDERS);
    expect(answerIn(waited.stdout)).toMatchObject({ id, status: 'done' });
  });

  test('with --json gives every field of the answer', async (context) => {
    const { expect } = context;
    const home = await bench(context, { taskMs: 20 });
    const { run, server } = home;
    const json = async (...args: string[]) => JSON.parse((await run(...args, ...ORDERS, '--json')).stdout);
    expect(await json('backups', 'create', '--yes')).toMatchObject({
      id: expect.any(Number),
      answer: { id: expect.any(Number), message: expect.any(String) },
    });
    expect(await json('backup-config', 'set', '--retention-time', '5', '--yes')).toMatchObject({
      settings: { retentionDays: 5 },
      answer: { message: expect.any(String) },
    });
    await hasPast(home);
    const { end_time: end } = (await json('pitr', 'show')).answer;
    const then = new Date(Date.parse(end) - 2_000).toISOString();
    const restored = await json('pitr', 'restore', '--to', then, '--confirm', 'orders');
    expect(restored).toMatchObject({
      id: server.instance('orders').restores[0]?.id,
      answer: { status: expect.any(String) },
    });
  });

  test('that recovers with a key from a file stores that key, by its fingerprint, under the name of the source', async (context) => {
    const { expect } = context;
    const { run, server, folder } = await bench(context, { taskMs: 20 });
    const file = join(folder, 'key');
    writeFileSync(file, CANARIES.givenKey, { mode: 0o600 });
    const guid = JSON.parse((await run('dr', 'prepare', ...ORDERS, '--yes', '--json')).stdout).backupGuid;
    const perform = ['dr', 'perform', '--backup-guid', guid, '--source', 'orders', '--key-file', file];
    const target = ['--instance', 'orders-dr', '--confirm', 'orders-dr', '--wait'];
    const { code, stderr } = await run(...perform, ...target);
    // It is the wrong key: the task fails, the target is unchanged, and the key is still kept.
    expect(stderr).toMatch(/restore \d+ is failed/);
    expect(code).toBe(1);
    expect(server.instance('orders-dr').restores).toHaveLength(1);
    const listed = await run('keys', 'list', 'orders', '--json');
    expect(listed.stdout).toContain('"state":"added"');
    expect(`${listed.stdout}${stderr}`).not.toContain(CANARIES.givenKey);
  });

  test('of a key waits until an earlier one whose answer was lost can no longer arrive', async (context) => {
    const { expect } = context;
    const { run, server, vault } = await bench(context, {
      inFlight: '1h',
      trouble: first(({ method }) => method === 'PATCH', { work: false, answer: 'lost' }),
    });
    const set = ['backup-config', 'set', '--new-key', ...SURE];
    expect((await run(...set)).code).toBe(5);
    const again = await run(...set);
    expect(again.stderr).toContain('an earlier key change was sent');
    expect(again.code).toBe(3);
    expect(server.calls.filter(({ method }) => method === 'PATCH').length).toBe(1);
    expect((await vault()).size).toBe(2);
  });

  test('that the token never allowed says so, and one with an invalid token exits with 4', async (context) => {
    const { expect } = context;
    const { run, server, tokenFile } = await bench(context, { readOnlyToken: CANARIES.otherToken });
    writeFileSync(tokenFile, CANARIES.otherToken);
    const forbidden = await run('backups', 'create', ...ORDERS, '--yes');
    expect(forbidden.stderr).toContain('the token has no right to do this (403)');
    expect(forbidden.code).toBe(1);
    server.acceptOnly('tok-nobody-has-this-one');
    expect((await run('backups', 'create', ...ORDERS, '--yes')).code).toBe(4);
  });
});

describe.concurrent('a download', () => {
  const bench = useQuickBenches();

  test('that breaks off is continued by itself where the service offers ranges, and is complete', async (context) => {
    const { expect } = context;
    // The first is of the redirect that begins a session: it has no body to break.
    const breaks = [0, 30_000, 20_000, 0];
    const { run, folder, server } = await bench(context, {
      ranges: true,
      trouble: ({ path }) =>
        path.endsWith('/download') ? { breakAfter: breaks.shift() ?? Infinity } : undefined,
    });
    const file = join(folder, 'whole');
    const { code, stderr } = await run('backups', 'download', '900041', ...ORDERS, '--out', file);
    expect(code, stderr).toBe(0);
    expect(readFileSync(file)).toEqual(await server.backups[0]?.file?.bytes());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [size, ...downloads] = server.calls;
    expect(size?.path).toMatch(/\/backups\/900041$/);
    expect(downloads.map(({ answered }) => answered)).toEqual([302, 200, 206, 206, 206]);
  });

  test('that breaks off where there are no ranges says so, and leaves nothing under the final name', async (context) => {
    const { expect } = context;
    const { run, folder } = await bench(context, {
      trouble: ({ path }) => (path.endsWith('/download') ? { breakAfter: 30_000 } : undefined),
    });
    const file = join(folder, 'whole');
    const { code, stderr } = await run('backups', 'download', '900041', ...ORDERS, '--out', file);
    expect(stderr).toContain('no way to go on from there');
    expect(code).toBe(1);
    expect(() => statSync(file)).toThrow();
  });

  test('never replaces an existing file unless --force is given', async (context) => {
    const { expect } = context;
    const { run, folder } = await bench(context);
    const file = join(folder, 'mine');
    writeFileSync(file, 'something of mine');
    const refused = await run('backups', 'download', '900041', ...ORDERS, '--out', file);
    expect(refused.code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('something of mine');
    expect((await run('backups', 'download', '900041', ...ORDERS, '--out', file, '--force')).code).toBe(0);
  });
});

describe.concurrent('`revision: auto`', () => {
  const bench = useQuickBenches();

  test.for([61, 62, 'v0'] as const satisfies readonly Revision[])(
    'detects %s by itself and says why',
    async (revision, context) => {
      const { expect } = context;
      const { run, server } = await bench(context, { revision, configRevision: 'auto' });
      const { code, stderr } = await run('backups', 'list', ...ORDERS);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(new RegExp(`^revision ${revision}: .+`, 'm'));
      expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );
});

/** Makes trouble for the first call that fits, and for no other. */
function first(fits: (call: Call) => boolean, trouble: Trouble) {
  let isDone = false;
  return (call: Call): Trouble | undefined => {
    if (isDone || !fits(call)) return undefined;
    isDone = true;
    return trouble;
  };
}

/** Resolves when a command has printed this text. */
async function seen({ child, stderr }: Running, words: string): Promise<void> {
  while (!stderr().includes(words)) await once(child.stderr as NodeJS.ReadableStream, 'data');
}

/** Loses the answer of the first POST. */
function lostPost(more: Trouble = {}) {
  return first(({ method }) => method === 'POST', { ...more, answer: 'lost' });
}

/** Stdout of a command that must succeed. */
async function good({ run }: TestBench, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
