import { describe, expect, test } from 'vitest';
import { codes, GIB, inspect, points } from './target.ts';

describe('the disk of the target', () => {
  test.for([
    { what: 'room for three times the backup stops nothing', needBytes: 2 * GIB, codes: [] },
    { what: 'less room than that stops it', needBytes: 2 * GIB + 1, codes: ['target.disk'] },
  ])('with $what', async ({ needBytes, codes: expected }) => {
    const { facts } = await inspect({ needBytes });
    expect(codes(facts)).toEqual(expected);
  });

  test('that is over the threshold, or whose parachute has opened, stops a backup of any size', async () => {
    const full = await inspect({}, (service) => {
      service.metrics = points({ used_percent: 80, used_threshold: 80, total: 10 * GIB, activated: 0 });
    });
    const open = await inspect({}, (service) => {
      service.metrics = points({ used_percent: 70, used_threshold: 80, total: 10 * GIB, activated: 1 });
    });
    expect([codes(full.facts), codes(open.facts)]).toEqual([['target.disk'], ['target.disk']]);
    expect(full.facts.blockers[0]?.shortMessage).toBe(
      'the disk of target orders-dr is 80 % full, and its parachute opens at 80 %',
    );
  });

  test('is that of the node with the least room, by its latest values', async () => {
    const { facts } = await inspect({ needBytes: 1 }, (service) => {
      service.metrics = [
        ...points({ used_percent: 79, used_threshold: 80, total: 10 * GIB }, 0, 1),
        ...points({ used_percent: 20, used_threshold: 80, total: 10 * GIB }, 0, 2),
        ...points({ used_percent: 60, used_threshold: 80, total: 10 * GIB }, 1, 2),
      ];
    });
    expect(facts.disk).toEqual({ usedPercent: 60, threshold: 80, freeBytes: 2 * GIB, needBytes: 3 });
  });

  test('whose size is not reported gets a warning', async () => {
    const { facts } = await inspect({ needBytes: 1 }, (service) => {
      service.metrics = points({ used_percent: 20, used_threshold: 80 });
    });
    expect(facts.disk).toEqual({ usedPercent: 20, threshold: 80, needBytes: 3 });
    expect(facts.warnings.at(-1)).toContain('it is unknown whether the data fits');
  });
});
