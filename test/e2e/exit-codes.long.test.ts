import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { EXIT, EXIT_CODES } from '../../src/base/errors.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import type { Ended } from '../bench-kit/product.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { type BenchOptions, changes, ROTATE, type TestBench, useBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;
const CREATE = ['backups', 'create', ...ORDERS, '--yes'] as const;
const RESTART = ['instance', 'restart', ...ORDERS, '--yes'] as const;

type Code = keyof typeof EXIT_CODES;
type Situations<C extends Code> = keyof (typeof EXIT_CODES)[C]['when'];

/** Brings about what the table calls so. */
interface Situation {
  readonly options?: BenchOptions;
  readonly come: (bench: TestBench) => Promise<Ended>;
}

/** Every row of the table, on the built product. A row without a situation here does not compile. */
const SITUATIONS: { readonly [C in Code]: { readonly [S in Situations<C>]: Situation } } = {
  closed: {
    proven: { come: ({ rotate }) => rotate() },
    done: { come: ({ run }) => run('backups', 'list', ...ORDERS) },
  },
  failed: {
    unproven: {
      come: async (bench) => {
        await restored(bench);
        const listed = await bench.run('followups', '--json');
        const [{ id } = { id: '' }] = itemsIn<{ readonly id: string }>(listed.stdout);
        return bench.run('followups', 'skip', id, '--reason', 'it is not used any more', '--yes');
      },
    },
    refused: {
      options: {
        idsInRow: true,
        trouble: always('POST', { work: false, answer: { status: 403, body: {} } }),
      },
      come: ({ run }) => run(...CREATE),
    },
    bad: {
      come: async ({ folder, run }) => {
        const file = join(folder, 'no-backup');
        writeFileSync(file, 'these are no bytes of a backup');
        return run('verify', file, ...ORDERS);
      },
    },
  },
  usage: {
    line: { come: ({ run }) => run('backups', 'frobnicate') },
    unfit: { come: ({ run }) => run('backups', 'restore', '77', ...SURE) },
    unsupported: { come: ({ run }) => run('instance', 'settings', '--allow-updates', 'true', ...ORDERS) },
  },
  waiting: {
    question: {
      options: { trouble: always('PATCH', { work: false, answer: { status: 403, body: {} } }) },
      come: ({ rotate }) => rotate(),
    },
    unfinished: { come: restored },
    unasked: lostAfterwards(),
    unpinned: {
      come: async ({ env, rotate, run }) => {
        await rotate();
        rmSync(join(String(env['LIFEBOAT_HOME']), 'vault.age'));
        return run('audit', 'verify');
      },
    },
    unconfirmed: { come: ({ run }) => run('backups', 'create', ...ORDERS) },
    overdue: {
      options: { taskMs: 60_000 },
      come: async ({ env, run }) => {
        amend(env, 'objectives: { rto: 2s }');
        const restart = ['run', 'change-instance', '--action', 'restart', ...SURE, '--yes'];
        return run(...restart, '--patience', '1s');
      },
    },
    held: {
      options: { trouble: always('PATCH', { answerAfterMs: 60_000 }) },
      come: async (bench) => {
        const first = bench.start(...ROTATE, '--yes', '--confirm', 'orders');
        await until(() => changes(bench.server).patches === 1);
        const second = await bench.run('resume');
        first.child.kill('SIGKILL');
        return second;
      },
    },
    open: {
      come: async ({ run }) => {
        await run(...ROTATE);
        return run(...ROTATE);
      },
    },
    busy: {
      options: { trouble: always('POST', { task: { ms: 60_000 } }) },
      come: async ({ run }) => {
        await run(...CREATE);
        return run(...CREATE);
      },
    },
  },
  credentials: {
    token: {
      come: ({ run, tokenFile }) => {
        writeFileSync(tokenFile, 'tok-of-nobody');
        return run('backups', 'list', ...ORDERS);
      },
    },
  },
  inDoubt: {
    doubt: {
      options: { taskMs: 20, trouble: always('PATCH', { work: false, answer: 'lost' }) },
      come: ({ run }) => run(...RESTART),
    },
    lost: {
      come: async ({ home, run }) => {
        await run(...CREATE);
        for (const name of ['lifeboat.db', 'lifeboat.db-wal']) rmSync(join(home, name), { force: true });
        return run(...CREATE);
      },
    },
  },
  interrupted: {
    left: {
      options: { trouble: always('POST', { task: { ms: 60_000 } }) },
      come: async ({ start }) => {
        const { child, ended, stderr } = start(...CREATE, '--wait');
        await until(() => /queued|running/u.test(stderr()));
        child.kill('SIGINT');
        return ended;
      },
    },
  },
};

const ROWS = Object.entries(SITUATIONS).flatMap(([code, situations]) =>
  Object.entries(situations as Readonly<Record<string, Situation>>).map(([name, situation]) => {
    const when = EXIT_CODES[code as Code].when as Readonly<Record<string, string>>;
    return { exit: EXIT[code as Code], when: when[name] ?? '', situation };
  }),
);

describe.concurrent('the exit code', () => {
  const bench = useBenches();

  test.for(ROWS)('is $exit when $when', async ({ exit, situation: { options, come } }, context) => {
    const home = await bench(context, { taskMs: 50, ...options });
    const { code, stderr } = await come(home);
    context.expect(code, stderr).toBe(exit);
  });

  test('is explained in the help as in the table', async (context) => {
    const { expect } = context;
    const { stdout } = await (await bench(context)).run('--help');
    for (const [name, { means }] of Object.entries(EXIT_CODES))
      expect(stdout).toContain(`${EXIT[name as Code]} ${means}`);
  });
});

/** A restore that leaves an application to be bound again by hand. */
async function restored({ env, server, run }: TestBench): Promise<Ended> {
  amend(env, 'apps: [{ name: shop }]');
  const backup = `${server.backups[0]?.id}`;
  return run('run', 'restore-backup', '--backup', backup, ...SURE, '--yes');
}

/** An instance that is ready, and does not answer when it is evaluated. */
function lostAfterwards(): Situation {
  let isLost = false;
  return {
    options: { taskMs: 20, trouble: () => (isLost ? { answer: 'lost' } : undefined) },
    come: async ({ rotate, run }) => {
      await rotate();
      await run('run', 'disaster-recovery', '--prepare', ...SURE, '--yes');
      isLost = true;
      return run('plans', 'evaluate', ...ORDERS);
    },
  };
}

/** Adds a line to what the config says of orders. */
function amend(env: TestBench['env'], line: string): void {
  const config = env['LIFEBOAT_CONFIG'] ?? '';
  const text = readFileSync(config, 'utf8');
  const before = line.startsWith('apps:') ? '  orders:\n    apps: []\n' : '  orders:\n';
  writeFileSync(config, text.replace(before, `  orders:\n    ${line}\n`));
}

function always(method: string, trouble: Trouble) {
  return (call: Call): Trouble | undefined => (call.method === method ? trouble : undefined);
}
