import { describe, expect, test } from 'vitest';
import { outputOf } from '../bench-kit/entries-of.ts';
import type { Mishap, Wish } from '../bench-kit/foreign/capi.ts';
import { refusal, unprocessable } from '../bench-kit/foreign/capi-words.ts';
import {
  IN_PLACE,
  PARAMETER,
  type PlatformBench,
  type PlatformBenchOptions,
  runsOn,
  usePlatformBenches,
} from '../bench-kit/platform-bench.ts';

const DR = [
  ...['run', 'disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform'],
  ...['--yes', '--confirm', 'orders-dr'],
];
const AHEAD = 600_000;

describe.concurrent('a foreign platform', { timeout: 3_000_000 }, () => {
  const bench = usePlatformBenches();

  test.for<{ name: string; options: PlatformBenchOptions; more?: readonly string[] }>([
    { name: 'whose service does not report parameters', options: { retrievable: false } },
    { name: 'whose clock is ten minutes ahead', options: { aheadMs: AHEAD } },
    { name: 'beside a service whose clock is ten minutes ahead', options: { service: { aheadMs: AHEAD } } },
    { name: 'that shows no audit events', options: { auditForbidden: true } },
    {
      name: 'that has too many requests once',
      options: { mishap: once('POST', { work: false, answer: tooMany('1') }) },
      more: ['POST binding prod/shop'],
    },
  ])('$name: each application is rebound once', async ({ options, more = [] }, { onTestFinished }) => {
    const strange = await bench({ onTestFinished }, options);
    const { app, orders, asked, restore } = strange;
    const end = await restore();
    expect(asked().toSorted(), end.stderr).toEqual([...IN_PLACE, ...more].toSorted());
    expect(runsOn(strange, app('prod/shop'), orders) && runsOn(strange, app('stage/shop'), orders)).toBe(
      true,
    );
    expect((await notes(strange)).includes('could not be read')).toBe(options.retrievable === false);
  });

  test.for<{ name: string; mishap: PlatformBenchOptions['mishap']; words: string }>([
    {
      name: 'refuses for two reasons',
      mishap: once('POST', { work: false, answer: unprocessable('one thing', 'another') }),
      words: '"one thing; another"',
    },
    { name: 'cannot stage', mishap: once('/builds', { fails: 'no buildpack' }), words: '"no buildpack"' },
    {
      name: 'cancels',
      mishap: once('/deployments', { fails: 'pushed' }),
      words: 'ended as CANCELED: "pushed"',
    },
  ])(
    'that $name says so and keeps the follow-up open; the other applications are still rebound, each once',
    async ({ mishap, words }, { onTestFinished }) => {
      const { asked, restore } = await bench({ onTestFinished }, { mishap });
      const end = await restore();
      expect(end.code, end.stderr).toBe(3);
      expect(end.stderr).toContain(words);
      expect(end.stderr).toContain('unbind, bind and restage acme/prod/shop');
      const others = (wishes: readonly string[]) => wishes.filter((wish) => !wish.endsWith('prod/shop'));
      expect(others(asked()).toSorted()).toEqual(others(IN_PLACE).toSorted());
    },
  );

  test('that asks to be left alone for an hour is not asked again, and everything stays as follow-ups', async ({
    onTestFinished,
  }) => {
    const mishap = once('POST', { work: false, answer: tooMany('3600') });
    const { asked, restore } = await bench({ onTestFinished }, { mishap });
    const end = await restore();
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain('Retry-After 3600');
    expect(end.stderr).toContain('unbind, bind and restage acme/prod/shop');
    expect(asked().filter((wish) => !wish.endsWith('prod/shop'))).toEqual([]);
  });

  test('binds to the target when the broker of the lost one is gone, and the follow-ups for the old bindings stay open', async ({
    onTestFinished,
  }) => {
    const strange = await bench({ onTestFinished });
    const { run, app, land, orders, target, asked } = strange;
    expect((await run('run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes')).code).toBe(
      0,
    );
    orders.brokerSays = 'The service broker could not be reached';
    // A name is unique, and a binding that cannot be removed keeps it.
    Object.assign(land.bindingsOf(app('prod/shop'))[0] ?? {}, { name: null });
    const end = await run(...DR);
    expect(end.code, end.stderr).toBe(3);
    const all = [...IN_PLACE.filter((wish) => wish !== 'DELETE binding report')];
    expect(asked().toSorted(), end.stderr).toEqual(all.toSorted());
    for (const name of ['prod/shop', 'stage/shop']) {
      expect(runsOn(strange, app(name), target), name).toBe(true);
      expect(end.stderr).toContain(`remove the binding of acme/${name} to orders db`);
    }
    expect(await notes(strange)).toContain('could not be read');
    expect(end.stderr).not.toContain('closed: remove the binding');
  });

  test('whose old binding keeps the name says who can help', async ({ onTestFinished }) => {
    const { run, orders, asked } = await bench({ onTestFinished });
    await run('run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes');
    orders.brokerSays = 'The service broker could not be reached';
    const end = await run(...DR);
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain('the old binding holds the name');
    expect(asked().filter((wish) => wish.endsWith('prod/shop'))).toEqual([
      'DELETE binding prod/shop',
      'POST binding prod/shop',
    ]);
    expect(new Set(asked()).size).toBe(asked().length);
  });

  test.for(IN_PLACE.map((_, index) => ({ index })))(
    'is asked for nothing twice when the answer to request $index is lost',
    async ({ index }, { onTestFinished }) => {
      const lost = { answer: 'lost' } as const;
      const strange = await bench(
        { onTestFinished },
        { mishap: ({ number }) => (number === index ? lost : undefined) },
      );
      const end = await strange.restore();
      isWhole(strange, end.stderr);
    },
  );

  test.for(IN_PLACE.flatMap((_, index) => [true, false].map((work) => ({ index, work }))))(
    'is asked for nothing twice when the program dies in request $index (done: $work)',
    async ({ index, work }, { onTestFinished }) => {
      const died = Promise.withResolvers<void>();
      const killed = Promise.withResolvers<void>();
      const mishap = ({ number }: Wish): Mishap | undefined => {
        if (number !== index) return undefined;
        killed.resolve();
        return { work, until: died.promise, answer: 'lost' };
      };
      const strange = await bench({ onTestFinished }, { mishap });
      const { server, start, run, asked } = strange;
      const flags = ['--backup', `${server.backups[0]?.id}`, '--yes', '--confirm', 'orders'];
      const first = start('run', 'restore-backup', '--instance', 'orders', ...flags);
      await Promise.race([killed.promise, first.ended]);
      first.child.kill('SIGKILL');
      await first.ended;
      died.resolve();
      const end = await run('resume', '--yes', '--confirm', 'orders');
      // One that was never done is asked for again; the broken-off wish stays in the list of what was asked.
      isWhole(strange, end.stderr, work ? [] : [asked()[index] ?? '']);
    },
  );
});

function isWhole(strange: PlatformBench, words: string, again: readonly string[] = []): void {
  const { asked, app, orders, land } = strange;
  expect(asked().toSorted(), words).toEqual([...IN_PLACE, ...again].toSorted());
  for (const name of ['prod/shop', 'stage/shop']) expect(runsOn(strange, app(name), orders), name).toBe(true);
  const kept = { parameters: { role: PARAMETER } };
  expect(land.bindingsOf(app('prod/shop'))).toMatchObject([{ name: 'db', ...kept }]);
  expect(land.bindings.filter(({ type }) => type === 'key')).toMatchObject([{ name: 'report', ...kept }]);
}

/** What the look at the platform after the restore had to remark. */
async function notes({ entries }: PlatformBench): Promise<string> {
  const { notes: all } = outputOf(await entries(), 'findBound') as { notes: string[] };
  return all.join('\n');
}

function once(call: string, mishap: Mishap): (wish: Wish) => Mishap | undefined {
  let isOver = false;
  return ({ method, path }) => {
    if (isOver || !`${method} ${path}`.includes(call)) return undefined;
    isOver = true;
    return mishap;
  };
}

function tooMany(seconds: string) {
  const answer = refusal(429, 10_013, 'CF-RateLimitExceeded', 'Rate Limit Exceeded');
  return { ...answer, headers: { 'retry-after': seconds } };
}
