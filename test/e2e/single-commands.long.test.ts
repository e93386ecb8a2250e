import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import type { ForeignServer } from '../bench-kit/foreign/server.ts';
import type { BenchOptions, TestBench } from '../bench-kit/test-bench.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;
const TARGET = ['--instance', 'orders-dr', '--confirm', 'orders-dr'] as const;
const RESTORE = ['backups', 'restore', '900041', ...SURE, '--no-follow-ups', 'a script'] as const;
const RECOVER = ['dr', 'perform', '--source', 'orders', '--backup-guid'] as const;

/** What a runbook stops at before it changes something, and the command that has to stop at it as well. */
interface Refusal {
  readonly at: string;
  readonly options?: (free: Promise<unknown>) => BenchOptions;
  /** How the service comes to stand. */
  readonly given?: (bench: TestBench) => unknown;
  readonly args: (server: ForeignServer) => readonly string[];
  readonly says: string | RegExp;
  /** With 3 a reason passes over it; with 2 nothing does. */
  readonly code: 2 | 3;
}

const REFUSALS: readonly Refusal[] = [
  {
    at: 'a target that is the source',
    args: (server) => [...RECOVER, server.instance('orders').backupGuid, ...SURE],
    says: 'target orders is the source itself: it has the same name',
    code: 2,
  },
  {
    at: 'a target that holds data of its own',
    given: ({ server }) => server.instance('orders-dr').createBackup({ ms: 0 }),
    args: (server) => [...RECOVER, server.instance('orders').backupGuid, ...TARGET],
    says: 'target orders-dr is not empty: it holds 1 backup of its own; nothing was sent',
    code: 3,
  },
  {
    at: 'a target that has failed',
    given: ({ server }) => Object.assign(server.instance('orders-dr'), { state: 'failed' }),
    args: (server) => [...RECOVER, server.instance('orders').backupGuid, ...TARGET],
    says: 'target orders-dr is failed; nothing was sent',
    code: 3,
  },
  {
    at: 'a restore that is under way',
    options: (free) => ({ taskMs: 20, trouble: heldUntil(free) }),
    given: ({ run }) => run(...RESTORE),
    args: () => RESTORE,
    says: /restore \d+ of orders is (?:queued|running); nothing was sent/u,
    code: 3,
  },
  ...[
    ['instance', 'restart', ...ORDERS, '--yes'],
    ['backup-config', 'set', '--new-key', ...SURE],
  ].map(
    (args): Refusal => ({
      at: `a restore that is under way, before ${args.slice(0, 2).join(' ')}`,
      options: (free) => ({ taskMs: 20, trouble: heldUntil(free) }),
      given: ({ run }) => run(...RESTORE),
      args: () => args,
      says: /restore \d+ of orders is (?:queued|running); nothing was sent/u,
      code: 3,
    }),
  ),
  {
    at: 'a backup that is under way, before another one',
    options: (free) => ({ taskMs: 20, trouble: heldUntil(free) }),
    given: ({ run }) => run('backups', 'create', ...ORDERS, '--yes'),
    args: () => ['backups', 'create', ...ORDERS, '--yes'],
    says: /a backup is under way: \d+; nothing was sent/u,
    code: 3,
  },
  {
    at: 'a backup that is under way, before a change of the key',
    options: (free) => ({ taskMs: 20, trouble: heldUntil(free) }),
    given: ({ run }) => run('backups', 'create', ...ORDERS, '--yes'),
    args: () => ['backup-config', 'set', '--new-key', ...SURE],
    says: 'nobody knows which key it will be written with',
    code: 3,
  },
  {
    at: 'a backup that is not done',
    options: (free) => ({ taskMs: 20, trouble: heldUntil(free) }),
    given: ({ run }) => run('backups', 'create', ...ORDERS, '--yes'),
    args: ({ backups }) => ['backups', 'restore', `${backups[0]?.id}`, ...SURE],
    says: 'only one that is done can be restored',
    code: 2,
  },
  {
    at: 'a backup that is not listed',
    args: () => ['backups', 'restore', '77', ...SURE],
    says: 'the service lists no backup 77 of orders',
    code: 2,
  },
  ...(
    [
      ['failed', ['backups', 'create', ...ORDERS, '--yes']],
      ['deploying', RESTORE],
      ['failed', ['backup-config', 'set', '--new-key', ...SURE]],
      ['deleted', ['dr', 'prepare', ...ORDERS, '--yes']],
      ['failed', ['dr', 'prepare', '--new-key', ...SURE]],
      ['deploying', ['instance', 'restart', ...ORDERS, '--yes']],
      ['deleted', ['instance', 'recreate', ...SURE]],
      ['deploying', ['instance', 'update', ...ORDERS, '--yes']],
    ] as const
  ).map(
    ([state, args]): Refusal => ({
      at: `an instance that is ${state}, before ${args.slice(0, 3).join(' ')}`,
      given: ({ server }) => Object.assign(server.instance('orders'), { state }),
      args: () => args,
      says: `the instance is ${state}; nothing was sent`,
      code: 3,
    }),
  ),
  {
    at: 'a generated key that is too short for the service',
    options: () => ({
      twist: ({ method, path }, answer) =>
        method === 'GET' && path.endsWith('/backups-config') && 'body' in answer
          ? { ...answer, body: { ...(answer.body as object), min_encryption_key_length: 64 } }
          : answer,
    }),
    args: () => ['backup-config', 'set', '--new-key', ...SURE],
    says: 'a generated key has 43 characters, the service requires at least 64',
    code: 2,
  },
  ...[
    RESTORE,
    ['instance', 'restart', ...ORDERS, '--yes'],
    ['backup-config', 'set', '--new-key', ...SURE],
  ].map(
    (args): Refusal => ({
      at: `a run that is open, before ${args.slice(0, 2).join(' ')}`,
      given: ({ run }) => run('run', 'rotate-key', ...ORDERS),
      args: () => args,
      says: /run \w+ on orders is still open/u,
      code: 3,
    }),
  ),
];

describe.concurrent('a check that stops a runbook before it changes anything', () => {
  const bench = useQuickBenches();

  test.for(REFUSALS)(
    'also stops the single command: $at',
    async ({ options, given, args, says, code }, context) => {
      const { expect } = context;
      const free = Promise.withResolvers<void>();
      const home = await bench(context, options?.(free.promise) ?? { taskMs: 20 });
      await given?.(home);
      const before = changes(home.server);
      const command = args(home.server);
      const refused = await home.run(...command);
      expect(refused.stderr).toMatch(says);
      expect(refused.stdout).toBe('');
      expect(refused.code, refused.stderr).toBe(code);
      expect(changes(home.server)).toEqual(before);
      const again = await home.run(...command, '--anyway', 'the war room has agreed');
      const after = changes(home.server);
      free.resolve();
      if (code === 2) {
        expect(again.code, again.stderr).toBe(2);
        expect(after).toEqual(before);
      } else {
        expect(refused.stderr).toContain('hint: to do it anyway: add --anyway REASON');
        expect(after, again.stderr).not.toEqual(before);
        const { stdout } = await home.run('audit', 'show', 'last');
        expect(stdout).toContain('because: the war room has agreed');
      }
    },
  );

  test('does not run with a config that lists the instance under two names: nothing begins', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    addAlias(home);
    for (const flags of [[], ['--dry-run']]) {
      const { code, stderr } = await home.run(
        ...['run', 'disaster-recovery', ...ORDERS, '--target', 'alias', '--perform', ...flags],
      );
      expect(stderr).toMatch(/alias.*orders|orders.*alias/u);
      expect(stderr).toContain('code: config.');
      expect(code).toBe(2);
    }
    expect(changes(home.server)).toMatchObject({ posts: 0 });
  });

  test('stops the single command when the cause arises between the first look and the last', async (context) => {
    const { expect } = context;
    let looks = 0;
    const { run, server } = await bench(context, {
      trouble: ({ method, path }) => {
        const isOverview = method === 'GET' && /\/v1\/instances\/[^/]+$/u.test(path);
        looks += isOverview ? 1 : 0;
        if (isOverview && looks === 2) server.instance('orders').state = 'failed';
        return undefined;
      },
    });
    const { code, stderr } = await run(...RESTORE, '--anyway', 'the platform team asked for it');
    expect(stderr).toContain('it has changed since (its state is failed, it was available)');
    expect(code).toBe(3);
    expect(changes(server)).toMatchObject({ posts: 0 });
  });
});

/** Every task that a POST begins stays under way until then. */
function heldUntil(free: Promise<unknown>) {
  return ({ method }: Call): Trouble | undefined =>
    method === 'POST' ? { task: { until: free } } : undefined;
}

/** The instance once more in the config, under another name and by the address of V1. */
function addAlias({ env, server }: TestBench): void {
  const config = env['LIFEBOAT_CONFIG'] ?? '';
  const url = server.urlOf('orders').replace('/service-instances/', '/v1/instances/');
  const alias = `  alias:\n    url: ${url}/\n    token: { file: ./token }\n`;
  writeFileSync(config, `${readFileSync(config, 'utf8')}${alias}`);
}
