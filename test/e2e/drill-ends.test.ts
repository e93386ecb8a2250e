import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { newStamp } from '../../src/commands/drill/drill-homes.ts';
import { beginRecord } from '../../src/commands/drill/drill-records.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { drillAt } from '../report/drill/drills.ts';
import { startReceiver } from './receiver.ts';

const isLinux = existsSync('/proc/self/stat');
const CANNOT_START = 'lifeboat: PostgreSQL cannot start';

describe.concurrent('a drill that does not reach its end', () => {
  const benches = useQuickBenches();

  /** A machine on which no database can be made, with a target for notifications. */
  async function scene(context: TestContext) {
    const bench = await benches(context);
    const receiver = await startReceiver(() => 200);
    context.onTestFinished(() => receiver.close());
    for (const name of ['initdb', 'postgres'])
      writeFileSync(join(bench.folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    bench.env['LIFEBOAT_PGBIN'] = bench.folder;
    const url = receiver.urlOf('/hook');
    const config = `drills: { every: 90d }\nnotify: [{ name: hook, url: '${url}', on: [drill-failed] }]\n`;
    appendFileSync(bench.env['LIFEBOAT_CONFIG'] ?? '', config);
    const drills = join(bench.home, 'drills');
    return {
      ...bench,
      drills,
      left: () => (existsSync(drills) ? readdirSync(drills) : []),
      told: () => receiver.received.map(({ body }) => body['drill']),
    };
  }

  test('stays with --keep 1, replaces the one before, and is notified each time', async (context) => {
    const { expect } = context;
    const { run, left, told } = await scene(context);
    const made: string[] = [];
    for (let times = 0; times < 3; times += 1) {
      // A drill is named by its second; one that was removed in the same second would have its name.
      const second = newStamp();
      const { code, stderr } = await run('drill', '--auto', '--keep', '1');
      expect(code, stderr).toBe(1);
      expect(left()).toHaveLength(1);
      made.push(...left());
      await expect.poll(newStamp).not.toBe(second);
    }
    expect(new Set(made).size).toBe(3);
    expect(told()).toEqual(made);
  });

  test('does not start where its result could not be written, or where its folder has no name', async (context) => {
    const { expect } = context;
    const { run, left, folder } = await scene(context);
    for (const [words, ...flags] of [
      ['/nonexist/x.xml cannot be written: it does not exist', '--junit', '/nonexist/x.xml'],
      [`${folder} cannot be written: it is not a plain file`, '--junit', folder],
      ['the JUnit file  cannot be written: it has no name', '--junit', ''],
      ['--report names no folder', '--report', ''],
    ]) {
      const { code, stderr } = await run('drill', '--auto', ...flags);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words ?? '')]);
      expect(stderr).toContain('hint: nothing was started');
    }
    expect(left()).toEqual([]);
  });

  test('says why, is notified and removes older drills, even when its result cannot be written', async (context) => {
    const { expect } = context;
    const { run, folder, left, told } = await scene(context);
    // The databases have a user of their own, who takes the folder away before the drill is over.
    const [parent, results] = [join(folder, 'open'), join(folder, 'open', 'results')];
    mkdirSync(results, { recursive: true });
    for (const path of [folder, parent]) chmodSync(path, path === parent ? 0o777 : 0o755);
    await run('drill', '--auto');
    for (const name of ['initdb', 'postgres'])
      writeFileSync(join(folder, name), `#!/bin/sh\nrmdir '${results}'\nexit 1\n`, { mode: 0o755 });
    const junit = join(results, 'drill.xml');
    const ended = await run('drill', '--auto', '--keep', '1', '--junit', junit);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(CANNOT_START);
    expect(ended.stderr).toContain(`warning: the JUnit file ${junit} cannot be written: it does not exist`);
    expect(left()).toHaveLength(1);
    expect(told()).toContain(left()[0]);
  });

  test.runIf(isLinux)(
    'ends at once where its folder cannot be made, and its result says so',
    async (context) => {
      const { expect } = context;
      const { run, folder, told } = await scene(context);
      const junit = join(folder, 'drill.xml');
      const ended = await run('drill', '--auto', '--report', '/proc/x', '--junit', junit);
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('/proc/x cannot be made')]);
      expect(readFileSync(junit, 'utf8')).toContain('<error message="the folder /proc/x cannot be made');
      expect(told()).toHaveLength(1);
    },
  );

  test('leaves nothing behind where its record cannot be written, and repeats the error of the disk', async (context) => {
    const { expect } = context;
    const { startUnder, folder, left } = await scene(context);
    const report = join(folder, 'evidence');
    // The limit on file sizes makes the kernel refuse the write, as a full disk does.
    const limited = ['bash', '-c', 'ulimit -f 0; exec "$@"', 'bash'];
    const ended = await startUnder(limited, 'drill', '--auto', '--report', report).ended;
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^lifeboat: the drill cannot be recorded in .*: the (?:disk|file size limit) .*$/mu,
      ),
    ]);
    expect([left(), readdirSync(report)]).toEqual([[], []]);
  });

  test('is notified once its process has died, and status and doctor say so; not while it is in progress', async (context) => {
    const { expect } = context;
    const { run, drills, told } = await scene(context);
    const proven = drillAt(new Date(Date.now() - 60_000).toISOString());
    mkdirSync(join(drills, proven.id), { recursive: true, mode: 0o700 });
    writeFileSync(join(drills, proven.id, 'drill.json'), JSON.stringify(proven));
    // The target is on record before the drill begins.
    expect((await run('notify', 'send')).stdout).toBe('nothing to send now\n');
    const id = '20990101-000000';
    mkdirSync(join(drills, id), { mode: 0o700 });
    const open = await beginRecord(join(drills, id), { scope: 'full', revision: '62', version: '1' });
    context.onTestFinished(() => open.release());
    expect((await run('status')).stdout).toContain('the last was proven ');
    expect((await run('notify', 'send')).stdout).toBe('nothing to send now\n');

    open.release();
    expect((await run('status')).stdout).toMatch(/^drills: the last was CUT OFF \d+s ago/mu);
    expect((await run('doctor')).stdout).toMatch(
      new RegExp(`^warn +drills .*the last was CUT OFF: ${id}`, 'mu'),
    );
    expect((await run('notify', 'send')).code).toBe(0);
    expect(told()).toEqual([id]);
  });

  test('is due despite a drill from a clock that was ahead, and status and doctor name that drill', async (context) => {
    const { expect } = context;
    const { run, drills } = await scene(context);
    const proven = drillAt('2099-01-01T00:00:00Z');
    mkdirSync(join(drills, proven.id), { recursive: true, mode: 0o700 });
    writeFileSync(join(drills, proven.id, 'drill.json'), JSON.stringify(proven));
    const named = 'nothing is counted from 1 drill of a time still to come: 20990101-000000';
    const status = (await run('status')).stdout;
    expect(status).toContain('none is on record in this home; next due: now');
    expect(status).toContain(`drills: warning: ${named}`);
    expect((await run('doctor')).stdout).toMatch(new RegExp(`^warn +drills .*${named}`, 'mu'));
  });
});
