import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { personAt } from '../bench-kit/person.ts';
import { isRunning, treeOf } from '../bench-kit/process-tree.ts';
import { builtProduct, drillBelow, type Running } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const CTRL_C = '\u0003';

describe('a lab that is ended from outside', { timeout: 1_200_000 }, () => {
  const product = builtProduct({ cheapVault: true });

  function machine(context: Pick<TestContext, 'onTestFinished'>) {
    const place = openMachine(product, context);
    Object.assign(place.env, { TMPDIR: tmpdir() });
    return place;
  }

  test.for(SIGNALS)('by %s leaves no process and no folder behind', async (signal, context) => {
    const { expect } = context;
    const { folder, start } = machine(context);
    const config = join(folder, 'lab.yaml');
    const running = start('lab', '--out', config);
    await expect.poll(running.stderr, { timeout: 600_000 }).toContain('Ctrl-C ends the lab');
    expect(readFileSync(config, 'utf8')).toContain('instances:');
    const again = await start('lab', '--out', config).ended;
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toContain('lab.yaml already exists, and no config is overwritten');
    const before = belongingsOf(running);
    expect(before.folders).toHaveLength(1);
    expect(before.pids.length).toBeGreaterThan(10);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(leftOf(before)).toEqual([]);
  });

  test.for(SIGNALS)('by %s while PostgreSQL starts leaves nothing behind either', async (signal, context) => {
    const { expect } = context;
    const running = machine(context).start('lab');
    await expect.poll(running.stderr, { timeout: 600_000, interval: 5 }).toContain('PostgreSQL');
    const before = belongingsOf(running);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(leftOf(before)).toEqual([]);
  });

  test.for(SIGNALS)(
    'by %s under a drill that is about to begin its run ends both at once',
    async (signal, context) => {
      const { expect } = context;
      const { folder, start } = machine(context);
      const report = join(folder, 'report');
      const running = start('drill', 'rotate-key', '--auto', '--report', report);
      await expect.poll(() => hasJournal(report), { timeout: 600_000, interval: 1 }).toBe(true);
      const before = belongingsOf(running);
      running.child.kill(signal);
      const { code, stderr } = await running.ended;
      expect(code, stderr).toBe(130);
      // Without its lab the run would ask a service that is gone, several times over.
      expect(stderr).not.toContain('refuses the connection');
      expect(leftOf(before)).toEqual([]);
    },
  );

  test.for(SIGNALS)(
    'by %s in the middle of the run of a drill ends both, says what became of the run, and is recorded as a failure',
    async (signal, context) => {
      const { expect } = context;
      const { start, home } = machine(context);
      const running = start('drill', 'rotate-key', '--auto');
      await expect.poll(running.stderr, { timeout: 600_000, interval: 5 }).toContain('now: ');
      const before = belongingsOf(running);
      running.child.kill(signal);
      const { code, stdout, stderr } = await running.ended;
      expect(code, stderr).toBe(130);
      expect(stderr).toContain(`left: the process received ${signal}`);
      expect(stderr).toMatch(/the drill was left: .* cannot be resumed; .* the journal is \S+lifeboat\.db\n/);
      expect(stdout + stderr).not.toMatch(/lifeboat resume|resume with|nothing is lost/);
      expect(leftOf(before)).toEqual([]);
      const failure = 'it was ended from outside before its end';
      expect(recordBelow(home)).toMatchObject({ outcome: 'failed', failure });
    },
  );

  test.runIf(hasTerminal())(
    'by Ctrl-C in a drill with people gives the terminal back, and is not recorded as a failure',
    async (context) => {
      const { expect } = context;
      const { env, home } = machine(context);
      const terminal = openTerminal(product, { env }, ['drill', 'rotate-key']);
      context.onTestFinished(() => terminal.close());
      const screen = personAt(terminal, expect);
      await screen.shows('press Enter when the team is ready');
      screen.type(KEYS.enter);
      await expect.poll(() => screen.isTaken(), { timeout: 600_000 }).toBe(true);
      await expect.poll(() => screen.text(), { timeout: 600_000 }).toContain('prove the newest');
      screen.type(CTRL_C);
      await screen.asks('leave this run?');
      screen.type(CTRL_C);
      await screen.isGivenBack(130);
      expect(recordBelow(home)).toMatchObject({ outcome: 'left' });
    },
  );
});

interface Belongings {
  readonly pids: readonly number[];
  readonly folders: readonly string[];
}

/** What a lab has made by now: the processes below it, and the folder that its databases are in. */
function belongingsOf({ child }: Running): Belongings {
  if (child.pid === undefined) throw new Error('the product was not started');
  const pids = treeOf(child.pid);
  const folders = pids.flatMap((pid) =>
    [...cmdlineOf(pid).matchAll(/\/[^\0]*?lifeboat-lab-\w+/gu)].map(String),
  );
  return { pids, folders: [...new Set(folders)] };
}

function leftOf({ pids, folders }: Belongings): (number | string)[] {
  return [...pids.filter(isRunning), ...folders.filter((path) => existsSync(path))];
}

function cmdlineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The record of the one drill of a home. */
function recordBelow(home: string): unknown {
  return JSON.parse(readFileSync(join(drillBelow(join(home, 'drills')), 'drill.json'), 'utf8'));
}

/** Whether the one drill below a folder has begun its journal. */
function hasJournal(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.some((name) => existsSync(join(folder, name, 'lifeboat.db')));
}
