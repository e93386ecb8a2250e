import { describe, expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { parseConfig } from '../../src/config/load.ts';

const INSTANCES = `instances:
  orders: { url: https://a.example/service-instances/1, token: { env: T }, target: orders-dr }
  orders-dr: { url: https://a.example/service-instances/2, token: { env: T }, role: target }
`;

const waiver = (more: string) =>
  `${INSTANCES}waivers: [{ instance: orders, check: pitr, reason: "being repaired", ${more} }]\n`;
const problemOf = (text: string): string | undefined => {
  try {
    parseConfig(text, 'lifeboat.yaml');
    return undefined;
  } catch (thrown) {
    return (thrown as LifeboatError).shortMessage;
  }
};

describe('a waiver in the config', () => {
  test('ends at the beginning of its day in UTC, or at its time', () => {
    const untilOf = (until: string) =>
      parseConfig(waiver(`until: ${until}`), 'lifeboat.yaml').waivers[0]?.until;
    expect(untilOf('2026-12-31')).toBe('2026-12-31T00:00:00.000Z');
    expect(untilOf('"2026-12-31T18:00:00+02:00"')).toBe('2026-12-31T16:00:00.000Z');
  });

  test.for<[what: string, text: string, problem: string]>([
    ['without an end', waiver(''), 'until: this key is missing'],
    ['whose end is not a date', waiver('until: soon'), 'an end is a date'],
    [
      'of a check that does not exist',
      waiver('until: 2026-12-31').replace('pitr', 'pitrr'),
      'waivers.0.check: one of these',
    ],
    [
      'of an instance that does not exist',
      waiver('until: 2026-12-31').replace('instance: orders', 'instance: oders'),
      'no instance has this name',
    ],
  ])('%s is refused', ([, text, problem]) => {
    expect(problemOf(text)).toContain(problem);
  });
});

test('a target in the config is another instance of the config', () => {
  expect(problemOf(INSTANCES)).toBeUndefined();
  expect(problemOf(INSTANCES.replace('target: orders-dr', 'target: spare'))).toContain('no instance has');
  expect(problemOf(INSTANCES.replace('target: orders-dr', 'target: orders'))).toContain('its own target');
});
