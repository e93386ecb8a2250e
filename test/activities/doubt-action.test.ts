import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Action, type ActionLook, judgeAction, updateLines } from '../../src/activities/doubt-action.ts';
import { InstanceOverview } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const IN_FLIGHT = 60_000;
const HISTORIES = Number(process.env['LIFEBOAT_HISTORIES'] ?? 20_000);
const PENDING = { name: 'database', type: 'release', version: '2' };
const ACTIONS: readonly Action[] = ['restart', 'recreate', 'update'];

const at = (ms: number) => new Date(ms).toISOString();

/** The overview now, after one that was available, last updated an hour before, with one update pending. */
const judge = (overview: object, changes: Partial<Omit<ActionLook, 'overview'>> = {}) =>
  judgeAction({
    action: 'restart',
    baseline: {
      state: 'available',
      updatedAt: at(ARMED - 3_600_000),
      updates: updateLines(InstanceOverview.parse({ available_updates: [PENDING] })) ?? null,
      skew: { skewMs: 0, uncertaintyMs: 500 },
    },
    armedAtMs: ARMED,
    nowMs: ARMED + IN_FLIGHT,
    inFlightMs: IN_FLIGHT,
    skew: undefined,
    ...changes,
    overview: InstanceOverview.parse({
      state: 'available',
      updated_at: at(ARMED - 3_600_000),
      available_updates: [PENDING],
      ...overview,
    }),
  });

describe('a lost request for an action', () => {
  test('for a restart has landed if the instance is deploying and was not before', () => {
    expect(judge({ state: 'deploying' }, { action: 'restart' })).toMatchObject({
      verdict: 'landed',
      output: { landed: true, adopted: true },
      evidence: { signs: ['the instance is deploying, and was not before'], certainty: 'likely' },
    });
  });

  test.for(['recreate', 'update'] as const)(
    'for a %s is a question if the instance is deploying: the restart of a colleague looks the same',
    (action) => {
      expect(judge({ state: 'deploying' }, { action, nowMs: ARMED + IN_FLIGHT - 1 }).verdict).toBe('wait');
      expect(judge({ state: 'deploying' }, { action })).toMatchObject({
        verdict: 'ambiguous',
        failure: {
          evidence: { signs: ['the instance is deploying, and was not before'], certainty: 'possible' },
        },
      });
    },
  );

  test.for(ACTIONS)(
    'is a question if only the time of the last change is newer, which a setting also moves: %s',
    (action) => {
      expect(judge({ updated_at: at(ARMED + 700) }, { action })).toMatchObject({
        verdict: 'ambiguous',
        failure: {
          shortMessage: expect.stringContaining('something has changed the instance since'),
          evidence: {
            signs: ['the instance was updated after the request'],
            updatedAt: at(ARMED + 700),
            updatedBefore: at(ARMED - 3_600_000),
          },
        },
      });
      const earlier = judge({ updated_at: at(ARMED - 60_000) }, { action });
      expect(earlier).toMatchObject({ verdict: 'ambiguous', failure: { evidence: { signs: [] } } });
    },
  );

  test('for an update has landed if a pending update is gone, and not if there are more', () => {
    expect(judge({ available_updates: [] }, { action: 'update' }).verdict).toBe('landed');
    expect(judge({ available_updates: [] }, { action: 'restart' }).verdict).toBe('ambiguous');
    const renamed = [{ ...PENDING, type: 'another word' }];
    expect(judge({ available_updates: renamed }, { action: 'update' }).verdict).toBe('ambiguous');
    const more = [PENDING, { ...PENDING, version: '3' }];
    expect(judge({ available_updates: more }, { action: 'update' }).verdict).toBe('ambiguous');
    expect(judge({ available_updates: null }, { action: 'update' }).verdict).toBe('ambiguous');
  });

  test('is not explained by an action that ran before it', () => {
    const baseline = {
      state: 'deploying',
      updatedAt: null,
      updates: null,
      skew: { skewMs: 0, uncertaintyMs: 0 },
    };
    expect(judge({ state: 'deploying' }, { baseline }).verdict).toBe('ambiguous');
    expect(judge({ updated_at: at(ARMED + 700) }, { baseline }).verdict).toBe('ambiguous');
  });

  test('is waited for, and then a question: an action may leave no trace', () => {
    expect(judge({}, { nowMs: ARMED + IN_FLIGHT - 1 }).verdict).toBe('wait');
    expect(judge({})).toMatchObject({ verdict: 'ambiguous', failure: { code: 'doubt.no-trace' } });
  });
});

test('over generated histories, no action is wrongly called done whatever a colleague does, and none is ever called absent', () => {
  const history = fc.record({
    action: fc.constantFrom(...ACTIONS),
    skewMs: fc.integer({ min: -600_000, max: 600_000 }),
    tellsDate: fc.boolean(),
    cutsSeconds: fc.boolean(),
    updatedAgoMs: fc.integer({ min: 10_000, max: 9_000_000 }),
    /** After the arming; null if it never arrives. */
    arrivesMs: fc.option(fc.integer({ min: 0, max: IN_FLIGHT })),
    runsMs: fc.integer({ min: 0, max: 90_000 }),
    bumps: fc.boolean(),
    /** When a colleague changes a setting, which moves the time of the last change as well. */
    otherMs: fc.option(fc.integer({ min: 0, max: 120_000 })),
    /** When a colleague restarts the instance by hand, which takes half a minute. */
    restartMs: fc.option(fc.integer({ min: 0, max: 120_000 })),
    lookedMs: fc.integer({ min: 0, max: 120_000 }),
  });
  fc.assert(
    fc.property(history, ({ skewMs, tellsDate, cutsSeconds, arrivesMs, ...given }) => {
      const stamp = (ms: number) => at(ms + skewMs).replace(/\.\d+/u, cutsSeconds ? '' : '$&');
      const skew = tellsDate ? { skewMs: skewMs + 400, uncertaintyMs: 500 } : null;
      const hasBegun = arrivesMs !== null && arrivesMs <= given.lookedMs;
      const isRunning = hasBegun && given.lookedMs < arrivesMs + given.runsMs;
      const isRestarting =
        given.restartMs !== null &&
        given.restartMs <= given.lookedMs &&
        given.lookedMs < given.restartMs + 30_000;
      const before = stamp(ARMED - given.updatedAgoMs);
      const isOther = given.otherMs !== null && given.otherMs <= given.lookedMs;
      const own = hasBegun && given.bumps ? arrivesMs : undefined;
      const changedMs = Math.max(own ?? -1, isOther ? (given.otherMs ?? -1) : -1);
      const updated = changedMs < 0 ? before : stamp(ARMED + changedMs);
      const judged = judge(
        { state: isRunning || isRestarting ? 'deploying' : 'available', updated_at: updated },
        {
          action: given.action,
          baseline: { state: 'available', updatedAt: before, updates: null, skew },
          nowMs: ARMED + given.lookedMs,
        },
      );
      const otherwise = given.lookedMs < IN_FLIGHT ? 'wait' : 'ambiguous';
      const isVisible = (isRunning || isRestarting) && given.action === 'restart';
      expect(judged.verdict).toBe(isVisible ? 'landed' : otherwise);
    }),
    { numRuns: HISTORIES },
  );
});

test('over generated histories with a clock that is set, no question comes before the in-flight window has truly passed', () => {
  const history = fc.record({
    action: fc.constantFrom(...ACTIONS),
    skewMs: fc.integer({ min: -600_000, max: 600_000 }),
    stepMs: fc.oneof(fc.integer({ min: -600_000, max: -20_000 }), fc.integer({ min: 20_000, max: 600_000 })),
    lookedMs: fc.integer({ min: 0, max: 120_000 }),
    wasDeploying: fc.boolean(),
    isDeploying: fc.boolean(),
    /** A colleague's change of a setting. */
    otherMs: fc.option(fc.integer({ min: 0, max: 120_000 })),
    keepsUpdates: fc.boolean(),
  });
  fc.assert(
    fc.property(history, ({ action, skewMs, stepMs, lookedMs, otherMs, ...given }) => {
      const isOther = otherMs !== null && otherMs <= lookedMs;
      const before = at(ARMED - 3_600_000 + skewMs);
      const judged = judge(
        {
          state: given.isDeploying ? 'deploying' : 'available',
          updated_at: isOther ? at(ARMED + otherMs + skewMs) : before,
          available_updates: given.keepsUpdates ? [PENDING] : [],
        },
        {
          action,
          baseline: {
            state: given.wasDeploying ? 'deploying' : 'available',
            updatedAt: before,
            updates: updateLines(InstanceOverview.parse({ available_updates: [PENDING] })) ?? null,
            skew: { skewMs, uncertaintyMs: 500 },
          },
          nowMs: ARMED + lookedMs + stepMs,
          skew: { skewMs: skewMs - stepMs, uncertaintyMs: 500 },
        },
      );
      const isSign =
        (action === 'restart' && given.isDeploying && !given.wasDeploying) ||
        (action === 'update' && !given.keepsUpdates);
      const allowed = isSign ? ['landed'] : lookedMs < IN_FLIGHT ? ['wait'] : ['wait', 'ambiguous'];
      expect(allowed).toContain(judged.verdict);
    }),
    { numRuns: HISTORIES },
  );
});
