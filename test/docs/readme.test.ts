import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { parseConfig } from '../../src/config/load.ts';
import { Config, InstanceConfig } from '../../src/config/schema.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const README = read('README.md');
const CONFIGURATION = read('docs', 'configuration.md');
const RUNBOOKS = read('docs', 'runbooks.md');

it('names every key of the config in its table, and none that does not exist', () => {
  const [, table = ''] = /^\| key \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(CONFIGURATION) ?? [];
  const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, key]) => key);
  const expected = [
    ...Object.keys(InstanceConfig.shape).map((key) => (key === 'url' ? 'instances.NAME.url' : `….${key}`)),
    ...Object.keys(Config.shape).filter((key) => key !== 'instances'),
  ];
  expect(named.toSorted()).toEqual(expected.toSorted());
});

it('has an example of a lifeboat.yaml that lifeboat takes', () => {
  const [example = ''] = /^ {4}platform:.*\n(?: {4}.*\n)+/m.exec(CONFIGURATION) ?? [];
  const config = parseConfig(example.replaceAll(/^ {4}/gm, ''), '/etc/lifeboat.yaml');
  expect(Object.keys(config.instances)).toEqual(['orders', 'orders-dr']);
  expect(config.instances['orders']?.objectives.rto).toBe(30 * 60_000);
});

it.each(Object.keys(runbooks))('leads to runbook %s and shows how it is run', (id) => {
  expect(README).toContain(`lifeboat run ${id} `);
  expect(RUNBOOKS).toContain(`[${id}](../runbooks/${id}.md)`);
  expect(RUNBOOKS).toMatch(new RegExp(`^ {4}lifeboat run ${id} --instance orders .*--yes`, 'm'));
});

it.each(['README.md', ...readdirSync(join(ROOT, 'docs')).map((file) => join('docs', file))])(
  '%s leads only to pages, headings and pictures that are there',
  (file) => {
    if (!file.endsWith('.md')) return;
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/gu)];
    for (const [link, path = '', heading] of links) {
      const target = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), path);
      expect(existsSync(target), link).toBe(true);
      if (heading === undefined) continue;
      const anchors = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gmu)].map(([, text = '']) =>
        text
          .toLowerCase()
          .replaceAll(/[^\w -]/gu, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors, link).toContain(heading);
    }
  },
);
