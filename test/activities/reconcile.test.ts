import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Reconciliation } from '../../machines/parts/recovery-data.ts';
import { readMeasure, reconcile } from '../../src/activities/reconcile.ts';
import { soon } from '../bench-kit/soon.ts';
import { fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const folders: string[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

describe('the output of a reconciliation', () => {
  test.for([
    ['2026-03-01 02:59:00.123+00|1234\n', '2026-03-01T02:59:00.123Z', 1234],
    ['1234|2026-03-01 02:59:00.123456+00', '2026-03-01T02:59:00.123Z', 1234],
    ['2026-03-01T02:59:00Z 7', '2026-03-01T02:59:00.000Z', 7],
    ['2026-03-01T02:59:00+05:30', '2026-02-28T21:29:00.000Z', undefined],
    ['2026-03-01 02:59:00-0800,12', '2026-03-01T10:59:00.000Z', 12],
    ['2026-03-01 02:59:00 UTC\n0', '2026-03-01T02:59:00.000Z', 0],
    ['2026-03-01 02:59', '2026-03-01T02:59:00.000Z', undefined],
    ['first 2026-03-01 00:00:00, then 2026-03-02 00:00:00; 3', '2026-03-01T00:00:00.000Z', 3],
    ['2026-13-41 00:00:00 2026-03-02 00:00:00', '2026-03-02T00:00:00.000Z', undefined],
    [' count \n-------\n    42\n(1 row)\n', undefined, 42],
    ['since 2026-03-01: 12.5 % of 80', undefined, 80],
    ['orders2 v3 1,234 17', undefined, 17],
    ['at 12:30:15 -5 99999999999999999999', undefined, undefined],
    ['none', undefined, undefined],
    ['', undefined, undefined],
  ] as const)('is read for its first time and its first whole number: %s', ([text, newest, count]) => {
    expect(readMeasure(text)).toEqual({
      ...(newest === undefined ? {} : { newest }),
      ...(count === undefined ? {} : { count }),
    });
  });
});

describe('the reconciliation command', () => {
  test('that is not configured is not a failure', async () => {
    const { deps } = fakeService();
    const context = contextOf(() => new Date('2026-03-01T03:00:00Z'));
    expect(await reconcile(deps).run({ when: 'before' }, context)).toEqual({
      ok: true,
      output: { configured: false, at: '2026-03-01T03:00:00.000Z' },
      ledger: [],
    });
  });

  test('is run by the shell, and gets the instance and the time', async () => {
    const said = await run('echo "$LIFEBOAT_INSTANCE $LIFEBOAT_WHEN $((6 * 7))"');
    expect(said).toMatchObject({ configured: true, output: 'orders before 42', count: 42 });
    expect(said).not.toHaveProperty('failure');
  });

  test('gets no token of lifeboat, and what its own tools need', async () => {
    vi.stubEnv('LIFEBOAT_PASSPHRASE_FILE', '/a/file');
    vi.stubEnv('ORDERS_TOKEN', 'bearer-of-orders');
    vi.stubEnv('PGHOST', 'db.example');
    const said = await run('env | grep -c -e LIFEBOAT_P -e ORDERS_TOKEN; echo "$PGHOST"', {
      hideEnv: ['ORDERS_TOKEN'],
    });
    expect(said).toMatchObject({ count: 0, output: '0 db.example' });
  });

  test('has no input, so a command that prompts does not wait for a person', async () => {
    expect(await run('cat; echo 5')).toMatchObject({ count: 5 });
  });

  test('that fails is recorded as a result, with its cleaned output', async () => {
    const said = await run("echo 7; printf 'no \\033[31mhost\\n' >&2; exit 3");
    expect(said).toMatchObject({
      output: '7',
      failure: {
        code: 'reconcile.failed',
        shortMessage: 'the reconciliation command ended with 3',
        evidence: { stderr: 'no \ufffd[31mhost' },
      },
    });
    expect(said).not.toHaveProperty('count');
  });

  test('that prints no measurable value is recorded as a failed result', async () => {
    expect(await run('echo fine')).toMatchObject({
      output: 'fine',
      failure: { code: 'reconcile.no-answer' },
    });
  });

  test('that takes too long is killed with everything it started', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
    folders.push(folder);
    const pids = join(folder, 'pids');
    const said = await run(`sleep 600 & echo $! > ${pids}; sleep 600`, { timeoutMs: 1_000 });
    expect(said).toMatchObject({
      failure: {
        code: 'reconcile.timeout',
        shortMessage: 'the reconciliation command took longer than 1 s',
      },
    });
    await isGone(Number(await readFile(pids, 'utf8')));
  });

  test('is over when the shell ends, whatever it left in the background', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
    folders.push(folder);
    const pids = join(folder, 'pids');
    expect(await run(`sleep 600 & echo $! > ${pids}; echo 3`)).toMatchObject({ count: 3 });
    await isGone(Number(await readFile(pids, 'utf8')));
  });

  test('that prints without end is read up to 64 KiB, and little of it is kept', async () => {
    const said = await run('echo 11; yes ab | head -c 100000; echo; echo 2026-03-01 00:00:00');
    expect(said).toMatchObject({ count: 11 });
    expect(said).not.toHaveProperty('newest');
    expect(said.output?.length).toBeLessThanOrEqual(2_000);
  });

  test('has the password removed from an address that it prints', async () => {
    const said = await run('echo "postgresql://app:hunter2@db/orders 3"');
    expect(said.count).toBe(3);
    expect(JSON.stringify(said)).not.toContain('hunter2');
  });

  test('is killed when the run is stopped, and its output is dropped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
    folders.push(folder);
    const begun = join(folder, 'begun');
    const stop = new AbortController();
    const { deps } = fakeService();
    const verb = reconcile({
      ...deps,
      reconcile: {
        command: `echo $$ > ${begun}.new; mv ${begun}.new ${begun}; sleep 600`,
        timeoutMs: 60_000,
      },
    });
    const running = verb.run(
      { when: 'after' },
      contextOf(() => new Date(), { signal: stop.signal }),
    );
    await vi.waitFor(() => access(begun), { timeout: 100_000 });
    stop.abort(new Error('stopped'));
    expect(await running).toMatchObject({ ok: false });
    await isGone(Number(await readFile(begun, 'utf8')));
  });
});

async function run(
  command: string,
  options: { readonly timeoutMs?: number; readonly hideEnv?: readonly string[] } = {},
): Promise<Reconciliation> {
  const { deps } = fakeService();
  const verb = reconcile({ ...deps, reconcile: { command, timeoutMs: 20_000, ...options } });
  const result = await verb.run(
    { when: 'before' },
    contextOf(() => new Date()),
  );
  if (!result.ok) throw new Error(result.failure.shortMessage);
  return result.output;
}

/** Killed, though perhaps not yet reaped. */
async function isGone(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(1);
  await soon(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    expect(stat.slice(stat.lastIndexOf(')'))).toMatch(/^\) Z/u);
  });
}
