import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Evidence } from '../../src/evidence/evidence-schema.ts';
import { DrillRecord, type DrillReport } from '../../src/report/drill/drill-report.ts';
import { Report } from '../../src/report/model/model.ts';
import { personAt } from '../bench-kit/person.ts';
import { isRunning, type SeenProcess, watchTree } from '../bench-kit/process-tree.ts';
import { builtProduct, drillBelow, type Ended, runProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { leaksIn, leaksInFolder, leaksInProcesses } from './leaks.ts';

const isLinux = existsSync('/proc/self/stat');

/** What a drill that was watched leaves in our hands. */
interface Watched {
  readonly end: Ended;
  readonly processes: readonly SeenProcess[];
  /** Texts of the lab's secret files, as they were while it ran. */
  readonly secrets: readonly string[];
}

describe.skipIf(!isLinux)('a drill', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  const temporary = join(folder, 'tmp');
  const reports = join(folder, 'report');
  const product = builtProduct({ cheapVault: false });
  let killed: Watched;
  let left: readonly string[] = [];
  let proven: Watched;

  beforeAll(async () => {
    // PostgreSQL, which refuses to run as root, gets a user of its own there; it must be able to walk in.
    mkdirSync(temporary);
    for (const path of [folder, temporary]) chmodSync(path, 0o755);
    killed = await drill(join(folder, 'killed'), { signal: 'SIGKILL', at: 'step 2 of' });
    left = readdirSync(temporary);
    proven = await drill(reports);
  }, 240_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test.skipIf(!hasTerminal())('by hand: no log line of the lab appears on the screen', async ({ expect }) => {
    const env = { HOME: folder, TMPDIR: temporary, LIFEBOAT_HOME: join(folder, 'by-hand') };
    const screen = personAt(openTerminal(product, { env }, ['drill', 'rotate-key']), expect);
    try {
      await screen.shows('press Enter when the team is ready');
      screen.type(KEYS.enter);
      await screen.answerToTheChange();
      await screen.confirm();
      await screen.asks(/✓ PROVEN.*the key is rotated and proven/su);
      expect(screen.text()).toMatch(/^── DRILL 1\/1 ── orders .*UTC/mu);
      expect(screen.text()).not.toContain('backup 2 of orders is done');
      screen.type('q');
      await screen.shows('drill: proven');
      await screen.isGivenBack(0);
    } finally {
      await screen.close();
    }
  });

  /**
   * Runs a drill with a temporary folder of its own; `ending` is the signal that it gets when it has said
   * something.
   */
  async function drill(report: string, ending?: { signal: NodeJS.Signals; at: string }): Promise<Watched> {
    const env = { HOME: folder, TMPDIR: temporary, LIFEBOAT_HOME: join(folder, 'home') };
    const json = ending === undefined ? ['--json'] : [];
    const { child, ended, stderr } = runProduct(
      product,
      ['drill', '--auto', ...json, '--report', report, '--junit', `${report}.xml`, '--keep', '12'],
      env,
    );
    const watch = watchTree(child.pid ?? 0);
    const secrets = new Set<string>();
    let isSent = false;
    const timer = setInterval(() => {
      for (const secret of labSecrets(temporary)) secrets.add(secret);
      if (ending === undefined || isSent || !stderr().includes(ending.at)) return;
      isSent = true;
      child.kill(ending.signal);
    }, 10);
    const end = await ended;
    clearInterval(timer);
    watch.stop();
    return { end, processes: watch.seen(), secrets: [...secrets] };
  }

  test('proves that the backup brings the data back, with every row compared', () => {
    const { code, stdout, stderr } = proven.end;
    expect(code, stderr).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const result = DrillResult.parse(lines.pop());
    expect(result.chapters.map(({ runbook }) => runbook)).toEqual([
      'rotate-key',
      'disaster-recovery',
      'restore-point-in-time',
    ]);
    for (const { tables } of result.chapters) {
      expect(tables.map(({ name }) => name)).toEqual(['customers', 'products', 'orders', 'order_lines']);
      expect(tables.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThan(100);
    }
    expect(lines.length).toBeGreaterThan(30);
    for (const entry of lines) expect(entry).toHaveProperty('hash');
  });

  test('leaves its record, its report in three forms with the trend, and its result as JUnit', () => {
    const home = drillBelow(reports);
    const record = readRecordIn(reports);
    expect(record).toMatchObject({ outcome: 'proven', scope: 'full', id: basename(home) });
    expect(record.chapters.map(({ outcome }) => outcome)).toEqual(['proven', 'proven', 'proven']);
    const report = JSON.parse(readFileSync(join(home, 'report.json'), 'utf8')) as DrillReport;
    expect(report.trends.map(({ rows }) => rows.at(-1)?.id)).toEqual([record.id, record.id, record.id]);
    const html = readFileSync(join(home, 'report.html'), 'utf8');
    expect(html).toContain('Trend: rotate the key and prove a backup');
    const xml = readFileSync(`${reports}.xml`, 'utf8');
    expect(xml).toMatch(/<testsuite name="lifeboat drill full"[^>]* failures="0" errors="0" skipped="0"/);
  });

  test('that was killed leaves a record without an end, and no folder that looks proven', () => {
    const record = JSON.parse(readFileSync(join(drillBelow(join(folder, 'killed')), 'drill.json'), 'utf8'));
    expect(DrillRecord.parse(record)).toMatchObject({ outcome: 'running', chapters: [] });
    expect(existsSync(join(folder, 'killed.xml'))).toBe(false);
  });

  test('leaves a report with verdict, rows, RTO and RPO', () => {
    const report = readFileSync(join(drillBelow(reports), 'report.md'), 'utf8');
    expect(report).toContain('verdict: restored');
    expect(report).toMatch(/\| orders \| \d+ \| \*\*equal\*\* \|/);
    expect(report).not.toMatch(/DIFFERENT|\bNO\b/);
    expect(report).toMatch(/RTO: [\d.]+ (ms|s)/);
    expect(report).toMatch(/RPO: [\d.]+ (ms|s)/);
    const runs = [...report.matchAll(/\| Recovery point \(RPO\) \| [^|]+ \| (?<measured>[^|]+) \|/gu)];
    const said = runs.map(({ groups }) => groups?.['measured']).filter((text) => /^[\d.]/u.test(text ?? ''));
    expect(said).toHaveLength(2);
    for (const text of said) expect(report).toContain(`- RPO: ${text} (objective `);
  });

  test('leaves no process and no file behind, even if the one before it was killed', () => {
    expect(proven.end.stderr).toContain('removed what a killed lab left behind');
    expect(proven.processes.filter(({ cmdline }) => cmdline.includes('postgres')).length).toBeGreaterThan(0);
    expect(proven.processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('that is killed takes its databases with it', async () => {
    expect(killed.end.code).toBeNull();
    expect(left).toHaveLength(1);
    expect(killed.processes.filter(({ cmdline }) => cmdline.includes('postgres')).length).toBeGreaterThan(0);
    await expect.poll(() => killed.processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
  });

  test('that is ended by SIGTERM cleans up after itself', async () => {
    const { end, processes } = await drill(join(folder, 'ended'), { signal: 'SIGTERM', at: 'step 7 of' });
    expect(end.code, end.stderr).toBe(130);
    expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(join(drillBelow(join(folder, 'ended')), 'lifeboat.db'))).toBe(true);
  });

  test('never shows its token or its keys', () => {
    const { end, processes, secrets } = proven;
    expect(secrets.length).toBeGreaterThanOrEqual(2);
    expect(leaksIn('output', end.stdout + end.stderr, secrets)).toEqual([]);
    expect(leaksInFolder(reports, secrets)).toEqual([]);
    expect(leaksInProcesses(processes, secrets)).toEqual([]);
  });

  test('is found by its runs from the home in which it was started', async () => {
    const env = { HOME: folder, TMPDIR: temporary, LIFEBOAT_HOME: join(folder, 'home') };
    const run = (...args: string[]) => runProduct(product, args, env).ended;
    const own = await run('runs');
    expect(own.stderr).toContain('`lifeboat runs --drills` lists them');
    const listed = itemsIn((await run('runs', '--drills', '--json')).stdout)
      .map((item) => Listed.parse(item))
      .filter(({ drill }) => realpathSync(drill) === drillBelow(reports));
    expect(listed.map(({ status }) => status)).toEqual(['closed', 'closed', 'closed', 'closed']);
    for (const { runId, drill } of listed) {
      const report = await run('report', runId, '--format', 'json');
      expect(report.code, report.stderr).toBe(0);
      expect(report.stderr).toBe(`${runId} is a run of a drill: ${drill}\n`);
      const { run: reported, comparison } = Report.parse(JSON.parse(report.stdout));
      expect(reported.id).toBe(runId);
      // Of the recovery from a lost region the run that recovers has it, the one that prepares has not.
      const prepares = reported.runbook === 'disaster-recovery' && reported.target === undefined;
      expect(comparison?.tables.map(({ equal }) => equal)).toEqual(
        prepares ? undefined : [true, true, true, true],
      );
      expect(comparison?.proven).toBe(prepares ? undefined : true);
    }
    const [{ runId } = { runId: '' }] = listed;
    const html = await run('report', runId, '--format', 'html');
    expect(html.stdout).toContain('Every row of the restored database, compared with the expected rows');
    // The keys of a drill are gone with it.
    expect((await run('audit', 'verify', runId)).code).toBe(3);
    expect((await run('audit', 'show', runId)).stdout).toContain('rotated and proven');
    const resumed = await run('resume', runId);
    expect(resumed.code).toBe(2);
    expect(resumed.stderr).toContain('is a run of a drill, and its lab is gone');
    expect((await run('report', 'ZZZZ')).stderr).toContain('there is no');
  });

  test('is in the evidence of its day with each of its runs, and one that was killed as died', async () => {
    const env = { HOME: folder, TMPDIR: temporary, LIFEBOAT_HOME: join(folder, 'home') };
    const out = join(folder, 'pack');
    const from = readRecordIn(reports).begunAt.slice(0, 10);
    const { code, stderr } = await runProduct(product, ['evidence', '--from', from, '--out', out], env).ended;
    // The keys of a drill are gone with it.
    expect(code, stderr).toBe(3);
    const { drills, runs } = JSON.parse(readFileSync(join(out, 'index.json'), 'utf8')) as Evidence;
    const { id } = readRecordIn(reports);
    expect(drills.find((one) => one.id === id)).toMatchObject({ outcome: 'proven', chapters: 3, proven: 3 });
    expect(drills[0]).toMatchObject({ outcome: 'died', proven: 0 });
    const own = runs.filter(({ drill: of }) => of === id);
    expect(own.map(({ kind, status }) => [kind, status])).toEqual(Array(4).fill(['rehearsal', 'closed']));
    for (const { report = '', journal = '' } of own)
      expect(existsSync(join(out, report)) && existsSync(join(out, journal))).toBe(true);
    // The pack of an installation without a journal signs only what its drills have.
    const words = [join(out, 'verify.mjs'), join(out, 'drills', id)];
    const verified = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(verified.status, verified.stdout).toBe(3);
    expect(existsSync(join(out, 'manifest.note'))).toBe(false);
  });

  test('leaves a journal that an audit accepts, until a bit of it is flipped', async () => {
    const home = drillBelow(reports);
    const env = { HOME: folder, TMPDIR: temporary, LIFEBOAT_HOME: home };
    const intact = await runProduct(product, ['audit', 'verify'], env).ended;
    expect(intact.code, intact.stdout + intact.stderr).toBe(3);
    expect(intact.stdout).toMatch(/consistent, but not all of it is pinned: no key is pinned, [^;]*\n/u);

    flipBitIn(join(home, 'lifeboat.db'), '"reason":"drill"');
    const damaged = await runProduct(product, ['audit', 'verify'], env).ended;
    expect(damaged.code, damaged.stdout + damaged.stderr).toBe(1);
    expect(damaged.stdout).toMatch(/problem: run\/\w+ entry 1/);
    expect(damaged.stdout).toContain('NOT INTACT');
  });
});

const Listed = z.object({ runId: z.string(), status: z.string(), drill: z.string() });

const DrillResult = z.object({
  schema: z.literal('lifeboat.drill/1'),
  proven: z.literal(true),
  chapters: z.array(
    z.object({
      runbook: z.string(),
      proven: z.literal(true),
      verdict: z.literal('restored'),
      checks: z.array(z.object({ what: z.string(), holds: z.literal(true) })).min(2),
      measures: z.object({
        rtoSeconds: z.number().positive().max(60),
        rpoSeconds: z.number().nonnegative().max(60),
      }),
      tables: z.array(z.object({ name: z.string(), rows: z.number().positive(), equal: z.literal(true) })),
    }),
  ),
});

/** The contents of the files in which the lab keeps token and key, for as long as there is a lab. */
function labSecrets(temporary: string): string[] {
  return readdirSync(temporary).flatMap((name) => {
    const state = join(temporary, name, 'state');
    try {
      const names = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((file) =>
        /token|key/.test(file),
      );
      return names
        .map((file) => readFileSync(join(state, file), 'utf8').trim())
        .filter((text) => text.length > 8);
    } catch {
      return [];
    }
  });
}

function flipBitIn(path: string, inside: string): void {
  const bytes = readFileSync(path);
  let at = bytes.indexOf(inside);
  if (at === -1) throw new Error(`${inside} is not in ${path}`);
  // SQLite leaves copies behind where it has moved an entry; which of them is the entry is its own affair.
  for (; at !== -1; at = bytes.indexOf(inside, at + 1)) {
    const last = at + inside.length - 2;
    bytes[last] = (bytes[last] ?? 0) ^ 1;
  }
  writeFileSync(path, bytes);
}

/** The record of the drill in a folder of reports. */
function readRecordIn(reports: string): DrillRecord {
  return DrillRecord.parse(JSON.parse(readFileSync(join(drillBelow(reports), 'drill.json'), 'utf8')));
}
