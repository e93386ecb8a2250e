import { expect, test } from 'vitest';
import type { ChildRuns } from '../../src/commands/plans/child-runs.ts';
import { LeftChildren } from '../../src/commands/plans/left-children.ts';
import type { Entry, JournalReader, Json } from '../../src/store/journal.ts';
import type { ChildRow } from '../../src/store/projections/plan-children.ts';

const START = { group: 'data', step: 'recover', lane: 'orders', attempt: 1 };
const ROW: ChildRow = {
  ...START,
  run: 'PLAN',
  runId: 'CHILD',
  runbook: 'plan-step',
  startedAt: '2026-03-01T02:00:00.000Z',
  isLeft: false,
};

/** The record of one child; the test decides what it says, when an answer arrives, and what is told. */
function record(row: ChildRow) {
  const told: Entry[][] = [];
  let [now, wake] = [row, () => {}];
  let [asked, gate] = [0, Promise.resolve()];
  const journal = {
    log: { head: async () => ({ size: 0 }) },
    rows: async () => {
      asked += 1;
      const found = now;
      await gate;
      return [{ key: 'CHILD', group: 'PLAN', sort: '', value: found as unknown as Json }];
    },
    read: async () => [],
    async *follow(_from: number, signal: AbortSignal) {
      while (!signal.aborted) {
        yield told.splice(0).flat();
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
  } as unknown as JournalReader;
  return {
    journal,
    asked: () => asked,
    says: (next: Partial<ChildRow>) => {
      now = { ...now, ...next };
    },
    answersAfter: (held: Promise<void>) => {
      gate = held;
    },
    tells: (type: string) => {
      told.push([{ stream: 'run/CHILD', type, body: {} } as unknown as Entry]);
      wake();
    },
  };
}

const runs = { leaveToWorkers: async () => 'CHILD' } as unknown as ChildRuns;
const END = { result: 'done', endedAt: '2026-03-01T02:10:00.000Z' } as const;

test('the end of a child is seen even if it arrives while the record of the child is being read', async () => {
  const { journal, asked, says, answersAfter, tells } = record(ROW);
  const children = await LeftChildren.of(journal, runs);
  const arrives = Promise.withResolvers<void>();
  answersAfter(arrives.promise);
  const beginning = children.begin(START);
  await expect.poll(asked).toBe(1);
  says(END);
  tells('run.closed');
  await new Promise((resolve) => setImmediate(resolve));
  arrives.resolve();
  const child = await beginning;
  expect(await child.ended).toMatchObject({ result: 'done' });
  children.close();
});

test('a late event of a child does not undo what its record already says', async () => {
  const { journal, asked, tells } = record({ ...ROW, isLeft: true, awaits: 'person', where: 'it asks' });
  const children = await LeftChildren.of(journal, runs);
  const child = await children.begin(START);
  const before = asked();
  tells('run.resumed');
  await expect.poll(asked).toBeGreaterThan(before);
  expect(child.state().where).toBe('it asks');
  children.close();
});
