import { afterEach, describe, expect, it, vi } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { createFacts } from '../../src/tui/facts.ts';
import type { Loaders, RunRow } from '../../src/view/app/sources.ts';
import { soon } from '../bench-kit/soon.ts';
import { loadersWith } from './fake-loaders.ts';

const RUNS = { source: 'runs', of: null } as const;

function loaders(runs: Loaders['runs']): Loaders {
  return loadersWith({ runs });
}

function run(runId: string): RunRow {
  return { runId } as RunRow;
}

describe('facts', () => {
  afterEach(() => void vi.useRealTimers());

  it('ask for what is wanted, and know when it was answered', async () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const facts = createFacts(
      loaders(async (_, emit) => emit([run('A')])),
      () => now,
    );
    expect(facts.get('runs', null)).toEqual({ part: { state: 'unasked' }, isAsking: false });
    facts.want([RUNS]);
    expect(facts.get('runs', null).isAsking).toBe(true);
    await soon(() => expect(facts.get('runs', null).isAsking).toBe(false));
    expect(facts.get('runs', null).part).toEqual({ state: 'known', at: now, value: [run('A')] });
    facts.stop();
  });

  it('keep the last answer, with its age, when the next one fails', async () => {
    let isBroken = false;
    const facts = createFacts(
      loaders(async (_, emit) => {
        if (isBroken) throw new LifeboatError('journal.damaged', 'it cannot be read\u001b[2J');
        emit([run('A')]);
      }),
      () => new Date(),
    );
    facts.want([RUNS]);
    await soon(() => expect(facts.get('runs', null).part.state).toBe('known'));
    isBroken = true;
    facts.refresh();
    await soon(() => expect(facts.get('runs', null).part.state).toBe('failed'));
    const { part, last } = facts.get('runs', null);
    expect(part).toMatchObject({ code: 'journal.damaged', why: expect.stringContaining('cannot be read') });
    expect(JSON.stringify(part)).not.toContain('\\u001b');
    expect(last?.value).toEqual([run('A')]);
    facts.stop();
  });

  it('ask again after a refresh, even for fresh answers, once they are wanted again', async () => {
    let asked = 0;
    const facts = createFacts(
      loaders(async (_, emit) => {
        asked += 1;
        emit([run('A')]);
      }),
      () => new Date('2026-01-01T00:00:00Z'),
    );
    facts.want([RUNS]);
    await soon(() => expect(facts.get('runs', null).isAsking).toBe(false));
    facts.want([]);
    facts.want([RUNS]);
    expect(asked).toBe(1);
    facts.want([]);
    facts.refresh();
    expect(asked).toBe(1);
    facts.want([RUNS]);
    expect(asked).toBe(2);
    facts.stop();
  });

  it('ask again when an answer is old, as long as a screen wants it', async () => {
    vi.useFakeTimers();
    let asked = 0;
    const facts = createFacts(
      loaders(async (_, emit) => {
        asked += 1;
        emit([]);
      }),
      () => new Date(),
    );
    facts.want([RUNS]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toBeGreaterThan(2);
    facts.want([]);
    const before = asked;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(before);
    facts.stop();
  });

  it('stop what no screen wants any more, and ignore its late answers', async () => {
    let heard: ((value: readonly RunRow[]) => void) | undefined;
    let isStopped = false;
    const facts = createFacts(
      loaders((_, emit, signal) => {
        heard = emit;
        signal.addEventListener('abort', () => (isStopped = true));
        return new Promise(() => undefined);
      }),
      () => new Date(),
    );
    facts.want([RUNS]);
    facts.want([]);
    expect(isStopped).toBe(true);
    heard?.([run('late')]);
    expect(facts.get('runs', null).last).toBeUndefined();
    facts.stop();
  });

  it('ask at once for what was dropped half-way, however fresh its first part is', async () => {
    let asked = 0;
    const facts = createFacts(
      loaders(async (_, emit, signal) => {
        asked += 1;
        emit([run('A')]);
        await new Promise<void>((done) => signal.addEventListener('abort', () => done()));
      }),
      () => new Date(),
    );
    facts.want([RUNS]);
    await soon(() => expect(facts.get('runs', null).part.state).toBe('known'));
    facts.want([]);
    facts.want([RUNS]);
    expect([asked, facts.get('runs', null).isAsking]).toEqual([2, true]);
    facts.stop();
  });

  it('report a thousand answers in a few updates a second', async () => {
    vi.useFakeTimers();
    const facts = createFacts(
      loaders(async (_, emit) => {
        for (let at = 0; at < 1_000; at += 1) emit([run(String(at))]);
      }),
      () => new Date(),
    );
    let told = 0;
    facts.subscribe(() => (told += 1));
    facts.want([RUNS]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(20);
    expect(facts.get('runs', null).last?.value).toEqual([run('999')]);
    facts.stop();
  });
});
