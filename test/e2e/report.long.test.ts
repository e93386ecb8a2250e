import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Comparison } from '../../src/report/comparison.ts';
import { Report } from '../../src/report/model/model.ts';
import { builtProduct, drillBelow, type Ended, runProduct } from '../bench-kit/product.ts';
import { runProductHere } from '../bench-kit/product-here.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { readHtml } from '../report/html-words.ts';

const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

describe('reports of real runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  let home = '';
  let printed = '';
  const product = builtProduct({ cheapVault: false });
  let ids: readonly string[] = [];

  beforeAll(async () => {
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    // PostgreSQL, which refuses to run as root, gets a user of its own there; it must be able to walk in.
    for (const path of [folder, temporary]) chmodSync(path, 0o755);
    const reports = join(folder, 'drill');
    const env = { TMPDIR: temporary, LIFEBOAT_HOME: join(folder, 'home') };
    const drill = ['drill', '--auto', '--report', reports];
    const ended = await runProduct(product, drill, { HOME: folder, ...env }).ended;
    expect(ended.code, ended.stderr).toBe(0);
    printed = ended.stdout;
    home = drillBelow(reports);
    const { stdout } = await lifeboat('runs', '--json');
    ids = itemsIn<{ runId: string }>(stdout).map(({ runId }) => runId);
  }, 180_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  function lifeboat(...args: readonly string[]): Promise<Ended> {
    return runProductHere(product, args, { HOME: folder, LIFEBOAT_HOME: home });
  }

  test('a drill leaves each run as JSON that fits the schema and as HTML that needs no other file', async () => {
    expect(ids.length).toBeGreaterThan(3);
    for (const id of ids) {
      const own = join(home, 'reports', id);
      const report = Report.parse(JSON.parse(readFileSync(join(own, 'report.json'), 'utf8')));
      expect(report.run).toMatchObject({ id, kind: 'rehearsal' });
      expect(report.outcome).toMatchObject({ status: 'closed', proven: true });
      const html = readFileSync(join(own, 'report.html'), 'utf8');
      const { elements } = readHtml(html);
      expect(elements.filter(({ name }) => name === 'script')).toEqual([]);
      // Addresses of instances are words of the report; nothing leads to them.
      const leading = elements.flatMap(({ attributes }) => [...attributes]).filter(leadsAway);
      expect(leading).toEqual([]);
      expect(html).not.toMatch(/url\(|@import/iu);
      expect(readFileSync(join(home, 'report.md'), 'utf8')).toContain(id);
    }
  });

  test('every command that a drill prints works as printed', async () => {
    const commands = printed.split('\n').filter((line) => line.startsWith('    LIFEBOAT_HOME='));
    expect(commands).toHaveLength(2 + ids.length);
    for (const command of commands) {
      const { stdout, status } = spawnSync('sh', ['-c', command], {
        env: { PATH: process.env['PATH'], HOME: folder },
        encoding: 'utf8',
      });
      // The key of a drill is gone with it, so nothing pins what is left.
      expect(status, stdout).toBe(command.endsWith('audit verify') ? 3 : 0);
      expect(stdout).toMatch(/closed|proven|: consistent, /u);
    }
    const pages = readFileSync(join(home, 'reports', ids[0] ?? '', 'report.html'), 'utf8');
    expect(pages).toContain('Every row of the restored database');
  });

  test('the report of a real rotation records its keys, and that of a real recovery its time slices', async () => {
    const all = await Promise.all(
      ids.map(async (id) => {
        const { stdout } = await lifeboat('report', id, '--format', 'json');
        return Report.parse(JSON.parse(stdout));
      }),
    );
    const rotation = all.find(({ run }) => run.runbook === 'rotate-key')?.rotation;
    expect(Object.entries(rotation ?? {}).filter(([, facts]) => facts.length === 0)).toEqual([]);
    expect(rotation?.substitution.at(-1)?.value).toBe('yes');
    const recovery = all.find(({ run }) => run.runbook === 'restore-point-in-time');
    const { rto, slices } = recovery?.measured ?? {};
    const sum = Object.values(slices ?? {}).reduce((total, one) => total + one, 0);
    expect(sum).toBeCloseTo(rto?.measuredSeconds ?? -1, 3);
    expect(rto?.result).toBe('met');
    expect(recovery?.checks.find(({ what }) => what.startsWith('restore '))?.good).toBe(true);
    expect(recovery?.followUps.every(({ closed }) => closed !== undefined)).toBe(true);
  });

  test('two runs can be compared in every form; one or three cannot', async () => {
    const [first = '', second = '', third = ''] = ids;
    const { stdout } = await lifeboat('report', '--compare', second, first, '--format', 'json');
    expect(Comparison.parse(JSON.parse(stdout)).runs.map(({ id }) => id)).toEqual([first, second]);
    const md = await lifeboat('report', '--compare', first, third);
    expect(md.stdout).toContain('## Comparability');
    for (const words of [
      ['--compare', first],
      ['--compare', first, second, third],
      [first, second],
    ]) {
      expect((await lifeboat('report', ...words)).code).toBe(2);
    }
  });

  test('a report goes into a file of its own and never overwrites another', async () => {
    const [first = ''] = ids;
    const path = join(folder, 'run.html');
    expect((await lifeboat('report', first, '--format', 'html', '--out', path)).stdout).toBe('');
    expect(readFileSync(path, 'utf8')).toContain('<!DOCTYPE html>');
    writeFileSync(path, 'kept');
    const again = await lifeboat('report', first, '--out', path);
    expect([again.code, readFileSync(path, 'utf8')]).toEqual([2, 'kept']);
  });

  test.skipIf(browser === undefined && process.env['CI'] === undefined)(
    'a browser reads the HTML as it was written: nothing is repaired, moved or run',
    async () => {
      const path = join(folder, 'seen.html');
      const [, , , last = ''] = ids;
      const { stdout: html } = await lifeboat('report', last, '--format', 'html');
      writeFileSync(path, html);
      const seen = await dump(path);
      expect(order(seen)).toEqual(order(html));
      expect(readHtml(body(seen)).text.replace(/\s+/gu, ' ')).toBe(
        readHtml(body(html)).text.replace(/\s+/gu, ' '),
      );
    },
  );

  async function dump(path: string): Promise<string> {
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${join(folder, 'browser')}`,
    ];
    const { stdout } = await promisify(execFile)(browser ?? '', [...flags, '--dump-dom', `file://${path}`], {
      timeout: 500_000,
      maxBuffer: 2 ** 26,
    });
    return stdout;
  }
});

/** The names of all elements in the order of their beginnings. */
function order(html: string): readonly string[] {
  return [...html.matchAll(/<([a-zA-Z][a-zA-Z0-9]*)/gu)].map(([, name = '']) => name);
}

/** The body, with what a browser writes in another way brought to one form. */
function body(html: string): string {
  const inside = html.slice(html.indexOf('<main'), html.indexOf('</main>') + '</main>'.length);
  return inside
    .replaceAll('&amp;', '&#38;')
    .replaceAll('&lt;', '&#60;')
    .replaceAll('&gt;', '&#62;')
    .replaceAll('&nbsp;', '\u00a0');
}

/** An attribute that lets an element fetch or open something outside of the page. */
function leadsAway([name, value]: readonly [string, string]): boolean {
  return /^(?:href|src|srcset|action|data|poster|xlink:href)$/iu.test(name) && !value.startsWith('#');
}
