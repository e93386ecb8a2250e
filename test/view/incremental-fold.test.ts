import { describe, expect, test } from 'vitest';
import { findIn } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { isAskedOnRecord, momentSinceAsked, requestStateOf } from '../../src/approvals/request-state.ts';
import { fold } from '../../src/runner/fold.ts';
import type { Entry, Json } from '../../src/store/journal.ts';
import { incrementalFold } from '../../src/store/projections/projection.ts';
import { foldSends } from '../../src/store/projections/sends.ts';
import { buildRunView, type RunFacts } from '../../src/view/build-run-view.ts';
import { rotateKey1 } from '../machines/rotate-key-1.ts';
import { recorded } from '../store/projections/generated-entries.ts';

const runbookOf = findIn([rotateKey1]);

const NOW = new Date('2026-11-22T12:00:00Z');

/** What a screen has of a run in some state, with whatever entries. */
function factsOf(history: readonly Entry[]): Omit<RunFacts, 'entries'> {
  const started = history[0]?.body as { runbook: string; version: string; instance: string; input: Json };
  const runbook = runbookOf(started.runbook, started.version) as Runbook;
  const { snapshot } = fold(runbook, started.input, history);
  const idle = { activity: undefined, paused: undefined, prose: new Map() };
  return { runbook, runId: 'R', instance: started.instance, snapshot, ...idle, now: NOW };
}

/** Entries that report when they are read. */
function watched() {
  const touched = new Set<number>();
  const entries: Entry[] = [];
  const add = (more: readonly Pick<Entry, 'type' | 'body'>[]) => {
    for (const one of more) {
      const index = entries.length;
      const at = new Date(NOW.getTime() - 3_600_000 + index * 100).toISOString();
      const entry: Entry = { index, stream: 'run/R', seq: index + 1, at, by: 'ada', hash: '', ...one };
      entries.push(
        new Proxy(entry, {
          get: (target, field) => {
            touched.add(index);
            return Reflect.get(target, field);
          },
        }),
      );
    }
  };
  const looked = (look: () => unknown) => {
    touched.clear();
    look();
    return [...touched].sort((one, other) => one - other);
  };
  return { entries, add, looked };
}

const [restore = []] = recorded().filter((entries) => bodyOf(entries)['runbook'] === 'restore-backup');
const again = { type: 'event', body: { event: { type: 'operator.lookAgain' }, to: 'confirming' } };
const noted = { type: 'answer', body: { event: 'operator.lookAgain' } };

describe('a run of ten thousand entries', () => {
  test('costs a frame only the entries that are new since the last one', () => {
    const { entries, add, looked } = watched();
    add(restore);
    add(Array.from({ length: 5_000 }, () => [again, noted]).flat());
    const frame = () => buildRunView({ ...factsOf(restore), entries });
    expect(looked(frame).length).toBe(entries.length);
    const before = entries.length;
    expect(looked(frame).filter((index) => index > 0)).toEqual([]);
    add([again, noted, again]);
    expect(looked(frame).filter((index) => index > 0)).toEqual([before, before + 1, before + 2]);
  });

  test('costs the approval check and the state of sends only those entries, too', () => {
    const { entries, add, looked } = watched();
    add(Array.from({ length: 10_000 }, () => again));
    const look = () => {
      requestStateOf(entries);
      momentSinceAsked(entries, NOW);
      isAskedOnRecord(entries, { state: 'confirming', target: 'orders' });
      foldSends(entries);
    };
    look();
    add([again]);
    expect(looked(look)).toEqual([10_000]);
  });
});

test('the view of a growing run equals that of the same run seen at once, and changes none of its entries', () => {
  for (const history of recorded()) {
    const grown: Entry[] = [];
    for (const [index, entry] of history.entries()) {
      grown.push(Object.freeze(entry));
      if (index % 5 !== 0 && index < history.length - 1) continue;
      const facts = factsOf(grown);
      const atOnce = buildRunView({ ...facts, entries: Object.freeze([...grown]) });
      expect(buildRunView({ ...facts, entries: grown })).toEqual(atOnce);
    }
  }
});

test('entries that were cut or replaced are folded again', () => {
  const sum = incrementalFold<{ of: number }, number>(
    () => ({ of: 0 }),
    (state, one) => {
      state.of += one;
    },
  );
  const numbers = [1, 2, 3];
  expect(sum(numbers).of).toBe(6);
  numbers.pop();
  expect(sum(numbers).of).toBe(3);
  numbers.splice(0, 2, 10, 20, 30);
  expect(sum(numbers).of).toBe(60);
  expect(sum([...numbers]).of).toBe(60);
});

function bodyOf([first]: readonly Entry[]): Readonly<Record<string, unknown>> {
  return (first?.body ?? {}) as Readonly<Record<string, unknown>>;
}
