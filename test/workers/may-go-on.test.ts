import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunProgress } from '../../src/store/projections/runs.ts';
import { isQuiet, limitOn, mayGoOn } from '../../src/workers/may-go-on.ts';

const base: RunProgress = {
  runId: '01A',
  runbook: 'rotate-key',
  version: '1',
  instance: 'orders',
  mode: 'LIVE',
  startedAt: '2026-03-01T02:00:00.000Z',
  lastAt: '2026-03-01T02:00:00.000Z',
  status: 'open',
  proven: false,
  isPaused: false,
  isLeft: true,
  isForWorkers: true,
  begunIndex: 0,
};

describe('whether a worker may go on with a run', () => {
  test('depends on it being left to the workers, open, and not waiting for a person', () => {
    expect(mayGoOn(base)).toBe(true);
    expect(mayGoOn({ ...base, awaits: 'credentials' })).toBe(true);
    expect(mayGoOn({ ...base, awaits: 'person' })).toBe(false);
    expect(mayGoOn({ ...base, status: 'closed' })).toBe(false);
    const { isForWorkers: _, ...byHand } = base;
    expect(mayGoOn(byHand)).toBe(false);
  });

  test('and a run is quiet when nothing was written to it for the given time', () => {
    const at = Date.parse(base.lastAt);
    expect(isQuiet(base, at + 19_999, 20_000)).toBe(false);
    expect(isQuiet(base, at + 20_000, 20_000)).toBe(true);
  });
});

describe('the limits of running work', () => {
  const hostOf = (name: string) => (name.startsWith('far') ? 'far.example' : 'near.example');
  const run = fc.record({
    instance: fc.constantFrom('near-1', 'near-2', 'far-1'),
    isLeft: fc.boolean(),
    runbook: fc.constantFrom('rotate-key', 'plan', 'plan-step'),
    isForWorkers: fc.constantFrom(true, undefined),
  });
  const numbered = (runs: readonly object[]) =>
    runs.map((one, at) => ({ ...base, ...one, runId: `run-${at}` }) as RunProgress);

  test('are never exceeded, in whatever order runs ask to begin', () => {
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        (runs, perHost, perTeam) => {
          const open = numbered(runs).map((one) => ({ ...one, isLeft: true }));
          for (const [at, one] of open.entries())
            if (limitOn(open, one, { perHost, perTeam }, hostOf) === undefined)
              open[at] = { ...one, isLeft: false };
          const atWork = open.filter(({ isLeft, runbook }) => !isLeft && runbook !== 'plan');
          expect(atWork.length).toBeLessThanOrEqual(perTeam);
          for (const host of ['near.example', 'far.example']) {
            const here = atWork.filter(
              ({ instance, runbook }) => runbook !== 'plan-step' && hostOf(instance) === host,
            );
            expect(here.length).toBeLessThanOrEqual(perHost);
          }
        },
      ),
    );
  });

  test('count a run whose process died, until another process has left it or ended it', () => {
    const dead = { ...base, runId: 'dead', isLeft: false };
    const asks = { ...base, runId: 'asks' };
    expect(limitOn([dead, asks], asks, { perHost: 1 }, hostOf)).toBe('perHost');
    expect(limitOn([{ ...dead, isLeft: true }, asks], asks, { perHost: 1 }, hostOf)).toBeUndefined();
    // The run itself does not count: taking it up again uses its own place.
    expect(limitOn([dead], dead, { perHost: 1, perTeam: 1 }, hostOf)).toBeUndefined();
  });

  test('keep no run of a dead process from being taken up, however many processes died at once', () => {
    const { isForWorkers: _, ...byHand } = { ...base, isLeft: false };
    const dead = [...numbered([{}, {}, {}, {}]), { ...byHand, runId: 'by-hand' }].map((one) => ({
      ...one,
      isLeft: false,
    }));
    const limits = { perHost: 4, perTeam: 4 };
    for (const one of dead.slice(0, 4)) expect(limitOn(dead, one, limits, hostOf)).toBeUndefined();
    expect(limitOn(dead, { ...base, runId: 'next' }, limits, hostOf)).toBe('perTeam');
  });

  test('count what a person has started by hand', () => {
    const { isForWorkers: _, ...byHand } = { ...base, runId: 'by-hand', isLeft: false };
    expect(limitOn([byHand, base], base, { perTeam: 1 }, hostOf)).toBe('perTeam');
  });
});
