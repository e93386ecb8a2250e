import { expect, test } from 'vitest';
import type { Course } from '../../../src/report/model/model-rows.ts';
import { courseSvg } from '../../../src/report/render/svg.ts';
import { readHtml } from '../html-words.ts';

const START = Date.UTC(2026, 2, 1, 3);
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();

/** A run of this many seconds, in pieces that grow with it. */
function courseOf(seconds: number, changes: Partial<Course> = {}): Course {
  const cut = (from: number, until: number) => ({ from: at(seconds * from), until: at(seconds * until) });
  return {
    ...cut(0, 1),
    slices: [
      { slice: 'decide', ...cut(0, 0.3) },
      { slice: 'execute', ...cut(0.3, 1) },
    ],
    steps: [
      {
        state: 'a',
        title: 'the last look before the change',
        ...cut(0, 0.3),
        seconds: seconds * 0.3,
        waits: true,
      },
      {
        state: 'b',
        title: 'waiting for the restore',
        ...cut(0.3, 1),
        seconds: seconds * 0.7,
        waits: false,
        slice: 'execute',
      },
    ],
    tasks: [{ what: 'restore 4', kind: 'queue', ...cut(0.31, 0.5) }],
    marks: [0, 0.3, 0.3001, 1].map((part) => ({ at: at(seconds * part), kind: 'decision', text: 'go on' })),
    ...changes,
  };
}

test.each([
  ['nothing', 0],
  ['a millisecond', 0.001],
  ['three seconds', 3],
  ['nine hours', 9 * 3600],
  ['a year', 365 * 86_400],
])('a run of %s stays inside the picture, with at most ten ticks', (_what, seconds) => {
  const { elements } = readHtml(courseSvg(courseOf(seconds), 'A run.'));
  const [, , width, height] = (elements[0]?.attributes.get('viewBox') ?? '').split(' ').map(Number);
  const number = (value: string | undefined) => Number(value ?? 0);
  for (const { name, attributes } of elements) {
    for (const [key, limit] of [
      ['x', width],
      ['cx', width],
      ['x2', width],
      ['y', height],
      ['cy', height],
    ] as const) {
      const value = number(attributes.get(key));
      expect(value, `${name} ${key}`).toBeGreaterThanOrEqual(0);
      expect(value, `${name} ${key}`).toBeLessThanOrEqual(limit ?? 0);
    }
    if (name === 'rect') {
      expect(number(attributes.get('width'))).toBeGreaterThan(0);
      expect(number(attributes.get('x')) + number(attributes.get('width'))).toBeLessThanOrEqual(
        (width ?? 0) + 1,
      );
    }
  }
  const grid = elements.filter(({ attributes }) => attributes.get('class') === 'grid');
  expect(grid.length).toBeGreaterThan(0);
  expect(grid.length).toBeLessThanOrEqual(10);
});

test('the label of a bar is shown only where it fits; every bar has its full label as a title', () => {
  const many = Array.from({ length: 60 }, (_, index) => ({
    ...{
      state: 's',
      title: `step ${index}`,
      from: at(index),
      until: at(index + 1),
      seconds: 1,
      waits: false,
    },
  }));
  const svg = courseSvg(courseOf(60, { steps: many, slices: [], tasks: [], marks: [] }), 'A run.').toString();
  expect(svg).toContain('<title>step 59, 1 s</title>');
  expect(svg).not.toContain('class="on"');
});

test('the limit is drawn as a line where it is near, and written in words where it is far beyond the run', () => {
  const near = courseSvg(courseOf(100, { limitAt: at(60) }), 'A run.').toString();
  expect(near).toContain('class="limit"');
  const behind = courseSvg(courseOf(100, { limitAt: at(130) }), 'A run.').toString();
  expect(behind).toContain('class="limit"');
  const far = courseSvg(courseOf(3, { limitAt: at(1800) }), 'A run.').toString();
  expect(far).not.toContain('class="limit"');
  expect(far).toContain('limit 30 min: beyond the right edge');
});

test('the circles of moments never overlap, and a crowd of them still shows where they were', () => {
  const marks = Array.from({ length: 200 }, (_, index) => ({
    ...{ at: at(index / 100), kind: 'decision' as const, text: `answer ${index}` },
  }));
  const svg = courseSvg(courseOf(3600, { marks }), 'A run.').toString();
  const circles = readHtml(svg).elements.filter(({ name }) => name === 'circle');
  const places = circles.map(
    ({ attributes }) => [Number(attributes.get('cx')), Number(attributes.get('cy'))] as const,
  );
  for (const [index, [x, y]] of places.entries()) {
    const others = places.filter((_, other) => other !== index);
    expect(others.every(([ox, oy]) => Math.hypot(x - ox, y - oy) >= 17)).toBe(true);
  }
  expect(svg).toContain('<title>200: decision: answer 199</title>');
});
