import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { metricsText } from '../../../src/commands/status/metrics-text.ts';
import { drillDue } from '../../../src/report/drill/drill-report.ts';
import { nothingAsked } from '../../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../../src/view/fleet/instance-status.ts';
import { parseMetrics } from './openmetrics.ts';

const at = new Date('2026-03-10T12:00:00.250Z');
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

function report(...names: readonly string[]) {
  const instances = names.map((name) => {
    const asked = nothingAsked({ name, role: 'source', objectives: { rpo: 3_600_000 } });
    const done = [{ id: 1, triggeredAt: '2026-03-10T11:00:00Z', size: 42 }];
    return instanceStatus({ ...asked, backups: { state: 'known', at, value: { done } } }, at);
  });
  return metricsText({ at, instances, plans: [], drills: drillDue([], 3_600_000, at) });
}

test('each metric appears once with HELP and TYPE, times in seconds, sizes in bytes, and unknown ones are left out', () => {
  const samples = parseMetrics(report('orders', 'billing'));
  const of = (name: string) =>
    samples.filter((one) => one.name === `lifeboat_instance_${name}` && one.labels['instance'] === 'orders');
  expect(of('newest_backup_timestamp_seconds')).toMatchObject([
    { value: Date.parse('2026-03-10T11:00:00Z') / 1000 },
  ]);
  expect(of('newest_backup_size_bytes')).toMatchObject([{ value: 42 }]);
  expect(of('rpo_seconds')).toMatchObject([{ value: 3600 }]);
  expect(of('recoverable').map(({ labels, value }) => [labels['way'], value])).toEqual([
    ['in_place', 0],
    ['elsewhere', 0],
  ]);
  expect(of('verdict').filter(({ value }) => value === 1)).toMatchObject([
    { labels: { verdict: 'not-ready' } },
  ]);
  expect(of('check').map(({ labels, value }) => [labels['check'], value])).toContainEqual([
    'newest-backup',
    0,
  ]);
  expect(of('key_held')).toEqual([]);
  expect(of('recovery_card_timestamp_seconds')).toEqual([]);
  expect(samples.every(({ name }) => name.startsWith('lifeboat_'))).toBe(true);
});

test.skipIf(!hasPromtool)(
  'promtool finds nothing to complain about (needs Debian package prometheus)',
  () => {
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: report('orders', 'billing'),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  },
);
