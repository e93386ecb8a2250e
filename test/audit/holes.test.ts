import { expect, test } from 'vitest';
import { createFindings } from '../../src/audit/verdict.ts';
import { createWalk } from '../../src/audit/walk.ts';
import type { LoggedEntry } from '../../src/store/journal.ts';
import { openSealed } from './sealed-journal.ts';

const SIZE = 21;
const sizes = new Set(Array.from({ length: SIZE + 1 }, (_, size) => size));

async function logOf(count: number): Promise<LoggedEntry[]> {
  const sealed = await openSealed();
  while ((await sealed.journal.log.head()).size < count)
    await sealed.append({ stream: 'run/a', type: 'note', body: {} });
  const entries: LoggedEntry[] = [];
  for await (const entry of sealed.journal.log.stored()) entries.push(entry);
  await sealed.close();
  return entries;
}

function walked(entries: readonly LoggedEntry[], gaps: readonly [number, number][]) {
  const findings = createFindings();
  const walk = createWalk({ sizes, demandedBelow: 0, gaps: [...gaps], onEntry: () => undefined }, findings);
  for (const entry of entries) walk.take(entry);
  walk.finish();
  return { walk, codes: findings.list().map(({ code }) => code) };
}

test('around every accepted hole, the remaining entries give the signed roots, or none', async () => {
  const entries = await logOf(SIZE);
  const whole = walked(entries, []).walk;
  let compared = 0;
  for (let first = 1; first < SIZE - 1; first += 1)
    for (let last = first; last < SIZE - 1; last += 1) {
      const left = entries.filter(({ index }) => index < first || index > last);
      const { walk, codes } = walked(left, [[first, last]]);
      expect([codes, walk.size(), walk.lost()]).toEqual([[], SIZE, last - first + 1]);
      for (const size of sizes) {
        const root = walk.roots.get(size)?.root;
        if (size <= first) expect(root).toBe(whole.roots.get(size)?.root);
        if (root === undefined) continue;
        compared += 1;
        expect(root).toBe(whole.roots.get(size)?.root);
      }
      expect(walked(left, []).codes).toContain('log.gap');
      const wider = left.filter(({ index }) => index !== last + 1);
      if (last + 1 < SIZE - 1) expect(walked(wider, [[first, last]]).codes).toContain('log.gap');
    }
  expect(compared).toBeGreaterThan(1_000);
});

test('a root that was signed over a hole shows whether the stored parts of the tree beside it are genuine', async () => {
  const entries = await logOf(SIZE);
  const real = walked(entries, []).walk.root();
  const left = entries.filter(({ index }) => index !== 10);
  expect(walked(left, [[10, 10]]).walk.root()).toBe(real);
  const forged = left.map((entry) =>
    entry.index === 11 ? { ...entry, tree: 'ab'.repeat(entry.tree.length / 2) } : entry,
  );
  expect(walked(forged, [[10, 10]]).walk.root()).not.toBe(real);
});
