import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { configJsonSchema } from '../../src/config/schema.ts';

const configOf = (revision: string) =>
  parseConfig(
    `instances: { orders: { url: 'https://d.example.com/service-instances/4a1f', revision: ${revision} } }`,
    '/tmp/lifeboat.yaml',
  );

test.each([63, 72])(
  'revision %s, which is newer than any that is known, is treated as 62 and reported',
  (revision) => {
    const { instances, newerRevisions } = configOf(String(revision));
    expect(instances['orders']?.revision).toBe(62);
    expect(newerRevisions).toEqual({ orders: revision });
  },
);

test.each(['61', '62', 'v0', 'auto'])('revision %s is accepted as it is', (revision) => {
  const { instances, newerRevisions } = configOf(revision);
  expect(String(instances['orders']?.revision)).toBe(revision);
  expect(newerRevisions).toEqual({});
});

test.each(['60', '62.5', "'72'", 'newest'])('revision %s is an error', (revision) => {
  expect(() => configOf(revision)).toThrow(expect.objectContaining({ code: 'config.invalid' }));
});

test('the schema for editors accepts later revisions', () => {
  expect(JSON.stringify(configJsonSchema())).toContain('"exclusiveMinimum":62');
});
