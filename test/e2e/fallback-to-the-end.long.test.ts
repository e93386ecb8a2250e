import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type ExpectStatic, test } from 'vitest';
import { type SampleDigest, sampleDigest } from '../../src/lab/sample-data.ts';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { answerIn } from '../bench-kit/results.ts';
import { until } from '../lab/helpers.ts';
import { followTired } from './tired-person.ts';

const PREPARE = ['run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes'] as const;
const PERFORM = [
  ...['run', 'disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform', '--yes'],
] as const;
const RESTORE = ['run', 'restore-backup', '--instance', 'orders', '--backup', '1', '--yes'] as const;
const STILL = { rowsPerSecond: 0 };

describe('the fallback script that the product left, followed to the end by a tired person', () => {
  const bench = useLabs();

  test('recovers a lost instance into another one, starting where the run asked for the name', async (context) => {
    const { expect } = context;
    const home = await bench(context, { sampleApp: STILL });
    const lost = await sampleDigest(home.query('orders'));
    await home.good(...PREPARE);
    await home.lab.disaster('orders', true);
    expect((await home.run(...PERFORM)).code).toBe(3);
    const since = home.did().length;

    await followed(home, expect);
    expect(await sampleDigest(home.query('orders-dr'))).toEqual(lost);
    expect(home.did().slice(since)).toEqual([
      'orders-dr POST /disaster-recovery/perform',
      'orders-dr PATCH /backups-config',
      'orders-dr POST /backups',
      'orders-dr POST /disaster-recovery/prepare',
    ]);
    await everyAppRuns(home);
  });

  test('continues after a recovery that was sent before the process died, and does not send it again', async (context) => {
    const { expect } = context;
    const home = await bench(context, { sampleApp: STILL });
    const lost = await sampleDigest(home.query('orders'));
    await home.good(...PREPARE);
    await home.lab.disaster('orders', true);
    home.lab.fault({
      method: 'POST',
      path: '/disaster-recovery/perform',
      effect: { kind: 'delay', ms: 60_000, when: 'after' },
    });
    const { child, ended } = home.start(...PERFORM, '--confirm', 'orders-dr');
    const performed = () => home.did().filter((call) => call.endsWith('/perform'));
    await until('the recovery was sent', async () => performed().length === 1 || undefined);
    child.kill('SIGKILL');
    await ended;
    home.lab.clearFaults();

    const screen = await followed(home, expect);
    expect(screen).toContain('THIS RUN MAY HAVE SENT IT ALREADY');
    expect(performed()).toHaveLength(1);
    expect(await sampleDigest(home.query('orders-dr'))).toEqual(lost);
    await everyAppRuns(home);
  });

  test('restores an instance to a point in time, starting where the run asked for the name', async (context) => {
    const { expect } = context;
    const home = await bench(context, { sampleApp: STILL });
    const query = home.query('orders');
    const { moment, digest } = await momentNow(home);
    await query('delete from order_lines');
    const to = ['--to', moment] as const;
    const left = await home.run('run', 'restore-point-in-time', '--instance', 'orders', ...to, '--yes');
    expect(left.code, left.stderr).toBe(3);
    const since = home.did().length;

    expect(await followed(home, expect)).not.toContain('FAILED');
    expect(await sampleDigest(query)).toEqual(digest);
    expect(home.did().slice(since)).toEqual(['orders POST /pitr/restore', 'orders POST /backups']);
    await everyAppRuns(home);
  });

  test('does the open follow-ups after a restore, but not the one that is already done', async (context) => {
    const { expect } = context;
    // The platform is there for the tool cf, and cannot be reached by the run.
    const home = await bench(context, {
      config: (yaml) => yaml.replace(/^platform: .*$/mu, 'platform: cf'),
    });
    expect((await home.run(...RESTORE, '--confirm', 'orders')).code).toBe(3);
    const close = ['followups', 'done', 'rebind-orders-report', '--proof', 'a colleague did it'] as const;
    expect((await home.run(...close)).code).toBe(0);
    const since = home.did().length;

    const screen = await followed(home, expect);
    expect(screen).toContain('== step 1: unbind, bind and restage orders-api');
    expect(screen).not.toContain('unbind-service orders-report');
    expect(screen).toContain('closed: unbind, bind and restage orders-report');
    expect(home.did().slice(since)).toEqual([]);
    const reached = await home.lab.platform?.appsReach((states) =>
      states.some(({ name, state }) => name === 'orders-api' && state === 'ok'),
    );
    expect(reached).toBeDefined();
  });
});

/** Follows the newest fallback script of a home to its end, and gives what was seen. */
async function followed(home: LabBench, expect: ExpectStatic): Promise<string> {
  const folder = join(home.home, '..', 'by-hand');
  mkdirSync(folder);
  const [fallback = ''] = readdirSync(join(home.home, 'fallback')).toSorted().slice(-1);
  const text = readFileSync(join(home.home, 'fallback', fallback), 'utf8');
  const token = readFileSync(home.lab.tokenFile, 'utf8').trim();
  const key = readFileSync(home.lab.keyFile, 'utf8').trim();
  const { code, screen } = await followTired(text, { folder, token, key, api: home.lab.url });
  const seen = `${text.slice(0, text.indexOf('# ---- helpers'))}${screen}`;
  expect(code, seen).toBe(0);
  expect(screen).toContain('That was the last step.');
  expect(screen).not.toContain(token);
  expect(screen).not.toContain(key);
  return seen;
}

async function everyAppRuns({ lab }: LabBench): Promise<void> {
  await lab.platform?.appsReach((states) => states.every(({ state }) => state === 'ok'));
}

/**
 * A moment with everything that was written until now, and with so much written before and after it that a
 * run may choose it.
 */
async function momentNow({
  lab,
  good,
  query,
}: LabBench): Promise<{ readonly moment: string; readonly digest: SampleDigest }> {
  const order = () => query('orders')('select place_order()');
  const range = async () => {
    await order();
    const shown = await good('pitr', 'show', '--instance', 'orders', '--json');
    const { start_time, end_time } = answerIn(shown) as { start_time: string; end_time: string };
    return { start: Date.parse(start_time), end: Date.parse(end_time) };
  };
  await until('there is a past', async () => {
    const { start, end } = await range();
    return end - start > 7_000 || undefined;
  });
  const digest = await sampleDigest(query('orders'));
  const moment = lab.clock.now().getTime();
  await until('the moment can be reached', async () => (await range()).end > moment + 2_000 || undefined);
  return { moment: new Date(moment).toISOString(), digest };
}
