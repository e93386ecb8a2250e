import { describe, expect, onTestFinished, test } from 'vitest';
import { Report } from '../../src/report/model/model.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { builtProduct, type Running } from '../bench-kit/product.ts';
import { ANSWERED, openBench, ROTATE, type TestBench } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';
import { type FakedClock, fakeClock } from './faked-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const IN_FLIGHT_MS = 2_000;

/** The trouble for the request for a backup, and the expected number of requests in all. */
const TROUBLES: readonly (readonly [string, Trouble, number])[] = [
  ['is answered', {}, 1],
  ['is done, and its answer is lost', { answer: 'lost' }, 1],
  ['arrives late, and its answer is lost', { workAfterMs: 1_200, answer: 'lost' }, 1],
  ['never arrives', { work: false, answer: 'lost' }, 2],
];
const JUMPS = [
  ['an hour back', '-3600s', -HOUR],
  ['a day forward', '+86400s', DAY],
] as const;

describeWith(['faketime'], 'a clock that is wrong', () => {
  const product = builtProduct({ cheapVault: true });

  interface Scene {
    readonly bench: TestBench;
    readonly clock: FakedClock;
    start(...args: readonly string[]): Running;
    posts(): number;
  }

  /** A bench with this trouble for its first request for a backup, and an action when that arrives. */
  async function scene(
    trouble: Trouble,
    atPost: (scene: Scene) => void = () => undefined,
    options: { readonly aheadMs?: number; readonly start?: string } = {},
  ): Promise<Scene> {
    let isFirst = true;
    const bench = await openBench(product, {
      taskMs: 200,
      idsInRow: true,
      inFlight: `${IN_FLIGHT_MS / 1000}s`,
      aheadMs: options.aheadMs ?? 0,
      trouble: ({ method }) => {
        if (method !== 'POST' || !isFirst) return undefined;
        isFirst = false;
        atPost(made);
        return trouble;
      },
    });
    onTestFinished(() => bench.close());
    const clock = fakeClock(bench, options.start);
    const made: Scene = {
      bench,
      clock,
      start: (...args) => bench.startUnder(clock.under, ...args, ...ANSWERED),
      posts: () => bench.server.calls.filter(({ method }) => method === 'POST').length,
    };
    return made;
  }

  async function expectWhole({ bench, posts }: Scene, end: { readonly code: number | null }, sent: number) {
    expect(end).toMatchObject({ code: 0 });
    expect(posts()).toBe(sent);
    const keys = bench.server.calls.filter(({ method }) => method === 'PATCH').map(({ key }) => key);
    expect(new Set(keys).size).toBe(1);
    expect(await bench.here('audit', 'verify')).toMatchObject({ code: 0 });
    const entries = await bench.entries();
    expect(entries.find(({ type }) => type === 'run.closed')?.body).toMatchObject({ proven: true });
    return entries.map(({ at }) => Date.parse(at));
  }

  async function reported({ bench }: Scene): Promise<Report['run']> {
    const runId = (await bench.entries()).find(({ type }) => type === 'run.started')?.stream.slice(4) ?? '';
    const { stdout } = await bench.here('report', runId, '--format', 'json');
    return Report.parse(JSON.parse(stdout)).run;
  }

  test.each([
    ['in the year 1970', '@1970-01-02 00:00:00', 0, 3 * DAY],
    ['a day ahead', '+86400s', Date.now() + DAY - HOUR, Date.now() + DAY + HOUR],
  ])('%s from the start changes nothing, and the entries carry its time', async (_when, start, from, to) => {
    const here = await scene({}, undefined, { start });
    const times = await expectWhole(here, await here.start(...ROTATE).ended, 1);
    for (const at of times) expect(at > from && at < to).toBe(true);
  });

  describe.each(JUMPS)('and is set %s', (_jump, to, byMs) => {
    test.each(TROUBLES)(
      'while a request %s: the outcome is the same, and nothing is sent twice',
      async (_what, trouble, sent) => {
        const here = await scene(trouble, ({ clock }) => clock.set(to));
        const times = await expectWhole(here, await here.start(...ROTATE).ended, sent);
        const spread = Math.max(...times) - Math.min(...times);
        expect(Math.abs(spread - Math.abs(byMs))).toBeLessThan(HOUR / 2);
        const run = await reported(here);
        expect(run.clockMovedSeconds.map((moved) => Math.round(moved / 60))).toEqual([byMs / 60_000]);
        expect(run.seconds).toBeGreaterThan(0);
        expect(run.seconds).toBeLessThan(HOUR / 2_000);
      },
    );

    test.each(TROUBLES.slice(1))(
      'between a kill and the resume, while a request %s: nothing is sent twice',
      async (_what, trouble, sent) => {
        let running: Running | undefined;
        const here = await scene(trouble, () => void running?.child.kill('SIGKILL'));
        running = here.start(...ROTATE);
        await running.ended;
        here.clock.set(to);
        await expectWhole(here, await here.start('resume').ended, sent);
        expect((await reported(here)).clockMovedSeconds.map((moved) => Math.round(moved / 60))).toEqual([
          byMs / 60_000,
        ]);
      },
    );
  });

  test.each([10, -10])(
    'by %i minutes at the service does not cause anything to be sent twice',
    async (minutes) => {
      for (const [, trouble, sent] of TROUBLES.slice(1)) {
        const here = await scene(trouble, undefined, { aheadMs: minutes * 60_000 });
        await expectWhole(here, await here.start(...ROTATE).ended, sent);
      }
    },
  );
});
