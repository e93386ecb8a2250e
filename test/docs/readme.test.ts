import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { parseConfig } from '../../src/config/load.ts';
import { Config, InstanceConfig } from '../../src/config/schema.ts';

const README = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

it('names every key of the config in its table, and none that does not exist', () => {
  const [, table = ''] = /^\| key \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(README) ?? [];
  const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, key]) => key);
  const expected = [
    ...Object.keys(InstanceConfig.shape).map((key) => (key === 'url' ? 'instances.NAME.url' : `….${key}`)),
    ...Object.keys(Config.shape).filter((key) => key !== 'instances'),
  ];
  expect(named.toSorted()).toEqual(expected.toSorted());
});

it('has an example of a lifeboat.yaml that lifeboat takes', () => {
  const [example = ''] = /^ {4}platform:.*\n(?: {4}.*\n)+/m.exec(README) ?? [];
  const config = parseConfig(example.replaceAll(/^ {4}/gm, ''), '/etc/lifeboat.yaml');
  expect(Object.keys(config.instances)).toEqual(['orders', 'orders-dr']);
  expect(config.instances['orders']?.objectives.rto).toBe(30 * 60_000);
});

it.each(Object.keys(runbooks))('leads to runbook %s and shows how it is run', (id) => {
  expect(README).toContain(`[${id}](runbooks/${id}.md)`);
  expect(README).toMatch(new RegExp(`^ {4}lifeboat run ${id} --instance orders .*--yes`, 'm'));
});
