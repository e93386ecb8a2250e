import { describe, expect, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import type { RunProgress } from '../../src/store/projections/runs.ts';
import { type Driven, type HeldBack, Worker, type WorkerPort } from '../../src/workers/worker.ts';

const START = Date.parse('2026-03-01T02:00:00.000Z');

function runOf(runId: string, more: Partial<RunProgress> = {}): RunProgress {
  return {
    runId,
    runbook: 'rotate-key',
    version: '1',
    instance: 'orders',
    mode: 'LIVE',
    startedAt: new Date(START).toISOString(),
    lastAt: new Date(START).toISOString(),
    status: 'open',
    proven: false,
    isPaused: false,
    isLeft: true,
    isForWorkers: true,
    begunIndex: 0,
    ...more,
  };
}

/** A run under way that the test ends. */
function underWay() {
  const over = Promise.withResolvers<void>();
  const resting = Promise.withResolvers<void>();
  const left: string[] = [];
  const driven: Driven = {
    over: over.promise,
    resting: resting.promise,
    leave: async (why) => {
      left.push(why);
      over.resolve();
    },
  };
  return { driven, over, resting, left };
}

function world(runs: readonly RunProgress[]) {
  const drives = new Map<string, Driven | HeldBack | Error>();
  const refusals = new Map<string, string>();
  const news = new Set<string>();
  const held = new Set<string>();
  const did: string[] = [];
  const asked: (readonly string[])[] = [];
  const known = new Map(runs.map((run) => [run.runId, run]));
  let now = START;
  const port: { -readonly [Verb in keyof WorkerPort]: WorkerPort[Verb] } = {
    runOf: async (runId) => known.get(runId),
    openRuns: async () => [...known.values()].filter(({ status }) => status === 'open'),
    newsAmong: async (waiting) => {
      const ids = waiting.map(({ runId }) => runId);
      asked.push(ids);
      return new Set(ids.filter((runId) => news.has(runId)));
    },
    noted: async ({ runId }) => {
      const isNews = news.has(runId);
      return () => void (isNews && news.delete(runId));
    },
    refusalOf: async ({ runId }) => refusals.get(runId),
    drive: async ({ runId }) => {
      did.push(`drive ${runId}`);
      const drive = drives.get(runId) ?? underWay().driven;
      if (drive instanceof Error) throw drive;
      return drive;
    },
    isHeld: async (runId) => held.has(runId),
    wake: async (all) => void did.push(`wake ${all.join(' ')}`),
    wakeAt: async (run, at) => void did.push(`wake ${run} in ${at.getTime() - now} ms`),
    say: (run, text) => void did.push(`say ${run} ${text}`),
    end: ({ code }) => void did.push(`end ${code}`),
    now: () => now,
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { worker: new Worker(port), port, drives, refusals, news, held, did, asked, known, pass };
}

describe('a worker', () => {
  test('takes up a run that waits for credentials no second time for wake-ups of the same moment', async () => {
    const { worker, did, pass } = world([runOf('refused', { awaits: 'credentials' })]);
    await worker.look('refused');
    expect(did).toEqual([]);
    pass(20_000);
    void worker.look('refused');
    await expect.poll(() => did).toContain('drive refused');
  });

  test('takes a run that may go on, and gives its place back when it is over', async () => {
    const { worker, drives, known } = world([runOf('a')]);
    const { driven, over } = underWay();
    drives.set('a', driven);
    const looked = worker.look('a');
    await expect.poll(() => worker.holds).toEqual(['a']);
    known.set('a', runOf('a', { status: 'closed', title: 'rotated' }));
    over.resolve();
    await looked;
    expect(worker.holds).toEqual([]);
  });

  test.for(['journal.lost', 'journal.rolled-back'])(
    'ends when its process can no longer write: %s',
    async (code) => {
      const { worker, drives, did } = world([runOf('a'), runOf('b'), runOf('c')]);
      const { driven, over } = underWay();
      drives.set('a', driven);
      drives.set('b', new LifeboatError(code, 'no more is written'));
      drives.set('c', new LifeboatError('journal.unreachable', 'for a moment'));
      const looked = worker.look('a');
      await expect.poll(() => worker.holds).toEqual(['a']);
      await worker.look('c');
      expect(did.filter((what) => what.startsWith('end'))).toEqual([]);
      over.reject(new LifeboatError(code, 'no more is written'));
      await looked;
      await worker.look('b');
      expect(did.filter((what) => what.startsWith('end'))).toEqual([`end ${code}`, `end ${code}`]);
    },
  );

  test('gives its place back while a run only waits for a task, and keeps the run', async () => {
    const { worker, drives } = world([runOf('a')]);
    const { driven, resting } = underWay();
    drives.set('a', driven);
    const looked = worker.look('a');
    resting.resolve();
    await looked;
    expect(worker.holds).toEqual(['a']);
  });

  test.for([
    { what: 'is over', run: runOf('a', { status: 'closed' }) },
    { what: 'waits for a person', run: runOf('a', { awaits: 'person' }) },
    { what: 'is not left to the workers', run: runOf('a', { isForWorkers: undefined } as never) },
  ])('leaves alone a run that $what', async ({ run }) => {
    const { worker, did } = world([run]);
    await worker.look('a');
    await worker.look('never-begun');
    expect(did).toEqual([]);
  });

  test('looks at a run that waits for a person as soon as there is news for it', async () => {
    const { worker, news, did } = world([runOf('a', { awaits: 'person' })]);
    news.add('a');
    void worker.look('a');
    await expect.poll(() => did).toContain('drive a');
  });

  test('does not hold a run that it may not take, says why once, and comes back soon, then later and later', async () => {
    const { worker, refusals, did } = world([runOf('a')]);
    refusals.set('a', 'its key is elsewhere');
    for (let look = 0; look < 7; look += 1) await worker.look('a');
    expect(did).toEqual([
      'say a not taken: its key is elsewhere',
      ...[500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000].map((ms) => `wake a in ${ms} ms`),
    ]);
  });

  test('comes back to a run that a limit holds back, but not to one that another process holds', async () => {
    const { worker, drives, did } = world([runOf('a'), runOf('b', { isLeft: false })]);
    drives.set('a', { againMs: 1_000 });
    drives.set('b', new LifeboatError('journal.held', 'run/b is held by another'));
    await worker.look('a');
    await worker.look('b');
    expect(did).toEqual(['drive a', 'wake a in 1000 ms', 'drive b', 'say b run/b is held by another']);
  });

  test('does not read the record of a run that another process holds', async () => {
    const { worker, drives, held, did } = world([runOf('a', { isLeft: false })]);
    drives.set('a', { againMs: 1_000 });
    held.add('a');
    await worker.look('a');
    expect(did).toEqual([]);
    held.delete('a');
    await worker.look('a');
    expect(did).toEqual(['drive a', 'wake a in 1000 ms']);
  });

  test('comes back in a moment to a run that its process has left on record, and still holds', async () => {
    const { worker, drives, held, did } = world([runOf('a'), runOf('b')]);
    held.add('a');
    await worker.look('a');
    drives.set('b', new LifeboatError('journal.held', 'run/b is held by another'));
    await worker.look('b');
    expect(did).toEqual([
      'wake a in 500 ms',
      'drive b',
      'say b run/b is held by another',
      'wake b in 500 ms',
    ]);
  });

  test('comes back to a run that could not be taken up', async () => {
    const { worker, drives, did } = world([runOf('a')]);
    drives.set('a', new LifeboatError('service.unreachable', 'the service does not answer'));
    await worker.look('a');
    expect(did.at(-1)).toBe('wake a in 30000 ms');
  });

  test('continues when a run fails while its queue cannot be reached', async () => {
    const { worker, drives, port } = world([runOf('a')]);
    const { driven, over, resting } = underWay();
    drives.set('a', driven);
    port.wakeAt = async () => {
      throw new LifeboatError('journal.unreachable', 'the store cannot be reached');
    };
    const looked = worker.look('a');
    resting.resolve();
    await looked;
    over.reject(new LifeboatError('journal.lost-hold', 'run/a is not held any more'));
    await expect.poll(() => worker.holds).toEqual([]);
  });

  test('woken twice, drives a run once', async () => {
    const { worker, did } = world([runOf('a')]);
    void worker.look('a');
    void worker.look('a');
    await expect.poll(() => worker.holds).toEqual(['a']);
    void worker.look('a');
    expect(did.filter((one) => one === 'drive a')).toHaveLength(1);
  });

  test('finds with its sweep the runs that lost their wake-up or their process, and no others', async () => {
    const { worker, held, news, did, asked, pass } = world([
      runOf('lost'),
      runOf('dead', { isLeft: false }),
      runOf('at-work', { isLeft: false }),
      runOf('asks', { awaits: 'person' }),
      runOf('signed', { awaits: 'person' }),
      runOf('by-hand', { isForWorkers: undefined } as never),
      runOf('over', { status: 'closed' }),
      runOf('fresh', { lastAt: new Date(START + 10_000).toISOString() }),
    ]);
    held.add('at-work');
    news.add('signed');
    pass(25_000);
    await worker.sweep();
    expect(did).toEqual(['wake lost dead signed']);
    expect(asked, 'all that wait are asked about at once').toEqual([['asks', 'signed']]);
  });

  test('finds also the runs that were written to just now, where its queue never had their wake-ups', async () => {
    const { worker, held, did } = world([
      runOf('fresh'),
      runOf('at-work'),
      runOf('asks', { awaits: 'person' }),
    ]);
    held.add('at-work');
    await worker.sweep('quiet');
    expect(did).toEqual([]);
    await worker.sweep('all');
    expect(did).toEqual(['wake fresh']);
  });

  test('that drains leaves also the run that it was just taking', async () => {
    const { worker, drives, port } = world([runOf('a')]);
    const { driven, left } = underWay();
    const taking = Promise.withResolvers<void>();
    const drive = port.drive;
    port.drive = async (run) => {
      await taking.promise;
      return drive(run);
    };
    drives.set('a', driven);
    const looked = worker.look('a');
    await worker.drain('asked to stop');
    taking.resolve();
    await looked;
    expect(left).toEqual(['asked to stop']);
    await expect.poll(() => worker.holds).toEqual([]);
  });

  test('says of a run that is over how it ended', async () => {
    const { worker, drives, did, known } = world([runOf('a'), runOf('b'), runOf('c')]);
    const ends = { a: 'closed: restored', b: 'came to its end on a simulated service', c: undefined };
    for (const [runId, outcome] of Object.entries(ends)) {
      const { driven, over } = underWay();
      drives.set(runId, driven);
      const looked = worker.look(runId);
      await expect.poll(() => worker.holds).toEqual([runId]);
      known.set(runId, runOf(runId, { status: 'closed', title: 'closed', ...(outcome && { outcome }) }));
      over.resolve();
      await looked;
      await expect.poll(() => worker.holds).toEqual([]);
    }
    expect(did.filter((one) => one.includes('closed'))).toEqual([
      'say a closed: restored',
      'say b closed: came to its end on a simulated service',
      'say c closed',
    ]);
  });

  test('that drains leaves every run, and takes no more', async () => {
    const { worker, drives, did } = world([runOf('a'), runOf('b')]);
    const { driven, left } = underWay();
    drives.set('a', driven);
    const looked = worker.look('a');
    await expect.poll(() => worker.holds).toEqual(['a']);
    await worker.drain('asked to stop');
    expect(worker.holds).toEqual([]);
    await looked;
    await worker.look('b');
    expect(left).toEqual(['asked to stop']);
    expect(did).not.toContain('drive b');
  });
});
