import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';

const UNITS = join(import.meta.dirname, '../../packaging/systemd');
const WORKER = join(import.meta.dirname, '../../src/commands/worker/worker.ts');
const service = readFileSync(join(UNITS, 'lifeboat-drill.service'), 'utf8');
const cron = readFileSync(join(UNITS, 'lifeboat-drill.cron'), 'utf8');
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).error === undefined;

/** The command line of a drill. */
const commandIn = (text: string) => /\/usr\/bin\/(lifeboat drill .*)/.exec(text)?.[1];

test('systemd and cron run the same drill', () => {
  expect(commandIn(service)).toContain('drill --auto');
  expect(commandIn(cron)).toBe(commandIn(service));
});

test('systemd and cron run it with the same home and the same config', () => {
  const own = (text: string) =>
    [...text.matchAll(/^(?:Environment=)?(LIFEBOAT_\w+=\S+)$/gmu)].map(([, one]) => one);
  expect(own(service)).toHaveLength(2);
  expect(own(cron)).toEqual(own(service));
});

test('a stopped worker has more time than it needs to drain, and its child processes are not killed first', () => {
  const worker = readFileSync(join(UNITS, 'lifeboat-worker.service'), 'utf8');
  const drain = /DRAIN_MS = ([\d_]+)/.exec(readFileSync(WORKER, 'utf8'))?.[1]?.replace('_', '');
  const stop = /^TimeoutStopSec=(\d+)s$/m.exec(worker)?.[1];
  expect(Number(stop) * 1000).toBeGreaterThan(Number(drain));
  expect(worker).toMatch(/^KillSignal=SIGTERM$/m);
  expect(worker).toMatch(/^KillMode=mixed$/m);
});

test.skipIf(!hasAnalyze)('systemd-analyze finds nothing to complain about in the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-units-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const units = [
    'lifeboat-drill.service',
    'lifeboat-drill.timer',
    'lifeboat-worker.service',
    'lifeboat-serve.service',
  ].map((name) => {
    const path = join(folder, name);
    // What is not installed here stands in for the command.
    const text = readFileSync(join(UNITS, name), 'utf8').replace('/usr/bin/lifeboat', process.execPath);
    writeFileSync(path, text.replace(/^Documentation=.*\n/m, ''));
    return path;
  });
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  });
  expect(stderr.split('\n').filter((line) => /lifeboat-(?:drill|worker|serve)/.test(line))).toEqual([]);
  expect(status).toBe(0);
});
