import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';

const UNITS = join(import.meta.dirname, '../../packaging/systemd');
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

test.skipIf(!hasAnalyze)('systemd-analyze finds nothing to complain about in the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-units-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // What is not installed here stands in for the command.
  const text = service.replace('/usr/bin/lifeboat', process.execPath).replace(/^Documentation=.*\n/m, '');
  writeFileSync(join(folder, 'lifeboat-drill.service'), text);
  const timer = readFileSync(join(UNITS, 'lifeboat-drill.timer'), 'utf8');
  writeFileSync(join(folder, 'lifeboat-drill.timer'), timer.replace(/^Documentation=.*\n/m, ''));
  const units = ['lifeboat-drill.service', 'lifeboat-drill.timer'].map((name) => join(folder, name));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  });
  expect(stderr.split('\n').filter((line) => line.includes('lifeboat-drill'))).toEqual([]);
  expect(status).toBe(0);
});
