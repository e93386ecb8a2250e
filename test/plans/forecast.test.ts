import fc from 'fast-check';
import { expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { PlanFile, type PlanInput } from '../../machines/parts/plan.ts';
import { planMachine } from '../../machines/plan.ts';
import { planFacts } from '../../src/plans/facts.ts';
import { forecastOf } from '../../src/plans/forecast.ts';
import { type Child, keyOf, type Start, schedule } from '../../src/plans/schedule.ts';

interface Shape {
  readonly lanes: number;
  readonly steps: number;
  readonly order: 'by-instance' | 'by-step';
  readonly waves: readonly number[];
  readonly maxConcurrency: number;
  readonly settle: number;
  readonly promote: boolean;
  /** The number of a step that belongs only to a recovery without the source. */
  readonly unmeant: number;
  readonly isAfter: boolean;
}

/** A plan with a group for each shape; `nameOf` names each lane. */
function inputOf(shapes: readonly Shape[], nameOf = (at: number) => `db-${at}`): PlanInput {
  const { groups, ...plan } = PlanFile.parse({
    plan: 'p',
    groups: shapes.map((shape, at) => ({
      id: `g${at}`,
      after: shape.isAfter && at > 0 ? [`g${at - 1}`] : [],
      order: shape.order,
      maxConcurrency: shape.maxConcurrency,
      settle: `${shape.settle}s`,
      ...(shape.promote ? { promote: 'approve' } : {}),
      steps: Array.from({ length: shape.steps }, (_, step) => ({
        id: `s${step}`,
        check: { tcp: 'db:1' },
        ...(step === shape.unmeant ? { when: 'source-down' } : {}),
      })),
    })),
  });
  const resolved = groups.map((group, at) => {
    const { lanes = 0, waves = [] } = shapes[at] ?? {};
    return {
      ...group,
      stopAt: undefined,
      sizes: sizesOf(lanes, waves),
      lanes: Array.from({ length: lanes }, (_, lane) => ({
        get name() {
          return nameOf(lane);
        },
      })),
    };
  });
  return { plan, groups: resolved, text: '', sha256: '', rehearsal: false, source: 'up' };
}

function sizesOf(lanes: number, waves: readonly number[]): readonly number[] {
  const sizes: number[] = [];
  for (let left = lanes; left > 0; left -= sizes.at(-1) ?? left)
    sizes.push(Math.min(left, waves[Math.min(sizes.length, waves.length - 1)] ?? left));
  return sizes;
}

/** How long a start takes: by its names, and sometimes no time at all. */
function timeOf({ group, lane, step }: Start): number {
  let sum = 7;
  for (const letter of `${group}${lane}${step}`) sum = (sum * 31 + letter.charCodeAt(0)) % 1009;
  return (sum % 5) * 1000;
}

/** When each group ends, by a scheduler that sees every lane and every child. */
function seenWhole(input: PlanInput): Readonly<Record<string, number>> {
  const machine = planMachine(input.groups.map(({ id }) => id));
  let [snapshot] = initialTransition(machine, input);
  [snapshot] = transition(machine, snapshot, { type: 'plan.evaluated', lanes: [] });
  const children = new Map<string, Child>();
  const ends: Record<string, number> = {};
  for (let nowMs = 0; ; ) {
    const facts = planFacts(snapshot, [...children.values()], nowMs);
    if (facts === undefined || facts.groups !== snapshot.context.input.groups) return ends;
    const { events, starts, wakeMs } = schedule(facts);
    for (const event of events) {
      if (event.type === 'group.ended') ends[event.group] = nowMs;
      [snapshot] = transition(machine, snapshot, event);
      if (event.type === 'group.held')
        [snapshot] = transition(machine, snapshot, { type: 'operator.resumeGroup', group: event.group });
    }
    for (const start of starts)
      children.set(keyOf(start), { ...start, state: 'at-work', endedMs: nowMs + timeOf(start) });
    if (events.length + starts.length > 0) continue;
    const open = [...children.values()].filter(({ state }) => state === 'at-work');
    const next = Math.min(...open.map(({ endedMs = 0 }) => endedMs), wakeMs ?? Number.POSITIVE_INFINITY);
    nowMs = next;
    for (const child of open)
      if ((child.endedMs ?? 0) <= nowMs) children.set(keyOf(child), { ...child, state: 'done' });
  }
}

const Shape: fc.Arbitrary<Shape> = fc.record({
  lanes: fc.integer({ min: 0, max: 12 }),
  steps: fc.integer({ min: 1, max: 3 }),
  order: fc.constantFrom('by-instance', 'by-step'),
  waves: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  settle: fc.integer({ min: 0, max: 2 }),
  promote: fc.boolean(),
  unmeant: fc.integer({ min: 0, max: 4 }),
  isAfter: fc.boolean(),
});

test('a forecast ends each group at the same time as a scheduler that sees every lane and every child', () => {
  fc.assert(
    fc.property(fc.array(Shape, { minLength: 1, maxLength: 3 }), (shapes) => {
      const input = inputOf(shapes);
      const { groups } = forecastOf(input, (_, start) => timeOf(start));
      expect(Object.fromEntries(groups.map(({ id, endMs }) => [id, endMs]))).toEqual(seenWhole(input));
    }),
    { numRuns: 100 },
  );
});

test.each(['by-instance', 'by-step'] as const)(
  'a forecast %s looks at each lane as often with 400 lanes as with 100',
  (order) => {
    const looksAtEach = (lanes: number) => {
      let looks = 0;
      const shape = { lanes, steps: 2, order, waves: [1, lanes], maxConcurrency: 5, settle: 0 };
      const input = inputOf([{ ...shape, promote: false, unmeant: 9, isAfter: false }], (at) => {
        looks += 1;
        return `db-${at}`;
      });
      expect(forecastOf(input, () => 1000).steps).toBe(2 * lanes);
      return looks / lanes;
    };
    expect(looksAtEach(400)).toBeLessThan(1.2 * looksAtEach(100));
  },
);
