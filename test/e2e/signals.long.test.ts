import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { typesOf } from '../bench-kit/entries-of.ts';
import type { Call } from '../bench-kit/foreign/call.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { ANSWERED, changes, ROTATE, type TestBench, useBenches } from '../bench-kit/test-bench.ts';
import { canTrace, signallingAt } from '../crash/strace.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_Z = '\u001a';

/** The answer to the first call of a method waits until the test lets it go. */
function held(method: string) {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let isFirst = true;
  const trouble = async (call: Call) => {
    if (call.method !== method || !isFirst) return undefined;
    isFirst = false;
    arrived.resolve();
    await release.promise;
    return undefined;
  };
  return { trouble, arrived: arrived.promise, release: release.resolve };
}

describe('a run that is ended from outside', { timeout: 600_000 }, () => {
  const bench = useBenches();

  /** The process of the program below a terminal. */
  const sit = (opened: TestBench, context: TestContext, ...args: string[]) => {
    const terminal = openTerminal(opened.product, opened, args);
    context.onTestFinished(() => terminal.close());
    return personAt(terminal, context.expect);
  };

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'by %s during a send: waits for the answer, leaves it resumable with 130, and nothing is sent twice',
    async (signal, context) => {
      const { expect } = context;
      const hold = held('POST');
      const opened = await bench(context, { trouble: hold.trouble });
      const running = opened.start(...ROTATE, ...ANSWERED, '--json');
      await hold.arrived;
      running.child.kill(signal);
      hold.release();
      expect(await running.ended).toMatchObject({ code: 130 });
      expect(await whyLeft(opened)).toBe(`the process received ${signal}`);
      const resumed = await opened.run('resume', ...ANSWERED);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(changes(opened.server)).toMatchObject({ patches: 1, posts: 1 });
    },
  );

  // The tracer sends the signal in the middle of each of the first writes, one of which begins the run.
  test.skipIf(!canTrace())(
    'once its first entry is written leaves it resumable with 130, and before that just ends it',
    async (context) => {
      const { expect } = context;
      const met = new Set<string>();
      for (const nth of [1, 2, 3, 4]) {
        const opened = await bench(context);
        const path = join(opened.home, 'lifeboat.db-wal');
        const tracer = signallingAt('fsync', nth, { path, signal: 'SIGTERM' });
        const { code, stderr } = await opened.startUnder(tracer, ...ROTATE, ...ANSWERED).ended;
        const types = typesOf(await opened.entries().catch(() => []), 'run');
        met.add(types.join(' '));
        expect({ nth, types, code }, stderr).toEqual({ nth, types, code: types.length === 0 ? null : 130 });
        expect(changes(opened.server)).toMatchObject({ patches: 0, posts: 0 });
        const resumed = await (types.length === 0 ? opened.rotate() : opened.run('resume', ...ANSWERED));
        expect(resumed.code, resumed.stderr).toBe(0);
      }
      expect([...met]).toContain('run.started activity.begun run.detached');
    },
  );

  test('by a second Ctrl-C ends at once and says what is in doubt, and the resume asks the service', async (context) => {
    const { expect } = context;
    const hold = held('POST');
    const opened = await bench(context, { trouble: hold.trouble });
    const running = opened.start(...ROTATE, ...ANSWERED);
    await hold.arrived;
    running.child.kill('SIGINT');
    const again = setInterval(() => running.child.kill('SIGINT'), 200);
    const { code, stderr } = await running.ended.finally(() => clearInterval(again));
    expect(code).toBe(130);
    expect(stderr).toContain('quit at once');
    expect(stderr).toContain('in doubt: backup-1 may have been sent');
    expect(stderr).toMatch(/hint: resume with: lifeboat resume \w+/);
    hold.release();
    const resumed = await opened.run('resume', ...ANSWERED);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(changes(opened.server)).toMatchObject({ posts: 1 });
  });

  test('by a reader that has gone away continues to its end', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const running = opened.start(...ROTATE, ...ANSWERED, '--json');
    running.child.stdout?.once('data', () => running.child.stdout?.destroy());
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(0);
    expect(changes(opened.server)).toMatchObject({ patches: 1, posts: 1 });
  });

  describe.skipIf(!hasTerminal())('in a terminal', () => {
    test('Ctrl-C at a question in lines leaves it resumable, and the terminal as it was', async (context) => {
      const { expect } = context;
      const opened = await bench(context);
      const screen = sit(opened, context, ...ROTATE, '--plain');
      await screen.asks('prove the newest first?');
      screen.type(CTRL_C);
      await screen.isGivenBack(130);
      expect(screen.text()).toContain('resume with: lifeboat resume');
      expect(await whyLeft(opened)).toBe('the process received SIGINT');
      expect(changes(opened.server)).toMatchObject({ patches: 0, posts: 0 });
    });

    test('the end of input at a question in lines leaves it too, instead of waiting for ever', async (context) => {
      const { expect } = context;
      const opened = await bench(context);
      const screen = sit(opened, context, ...ROTATE, '--plain');
      await screen.asks('prove the newest first?');
      screen.type(CTRL_D);
      await screen.isGivenBack(130);
      expect(await whyLeft(opened)).toBe('the input of the terminal ended');
    });

    test.for([{ how: ['--plain'] }, { how: [] }])(
      'Ctrl-C while a key is typed leaves neither the key nor a raw terminal behind: $how',
      async ({ how }, context) => {
        const { expect } = context;
        const opened = await bench(context);
        const screen = sit(opened, context, ...ROTATE, ...how);
        const isPlain = how.length > 0;
        const choose = (row: number) => {
          screen.type(isPlain ? `${row}${KEYS.enter}` : `${KEYS.down.repeat(row - 1)}${KEYS.enter}`);
        };
        await screen.asks('prove the newest first?');
        choose(1);
        await screen.asks('where does the new key come from?');
        choose(2);
        await screen.asks('the new key');
        screen.type('canary-Hn4vPq9x');
        screen.type(CTRL_C);
        if (!isPlain) {
          await screen.asks('leave this run?');
          screen.type(CTRL_C);
        }
        await screen.isGivenBack(130);
        expect(screen.bytes()).not.toContain('canary');
        expect(screen.bytes().lastIndexOf('\u001b[?2004l')).toBeGreaterThanOrEqual(
          screen.bytes().lastIndexOf('\u001b[?2004h'),
        );
      },
    );

    test('a signal before the screen is up still gives the terminal back', async (context) => {
      const { expect } = context;
      const hold = held('GET');
      const opened = await bench(context, { trouble: hold.trouble });
      const screen = sit(opened, context, ...ROTATE);
      await expect.poll(() => screen.isTaken(), { timeout: 100_000, interval: 1 }).toBe(true);
      screen.type(CTRL_C);
      // Pressed before the keyboard is the program's own it is a signal, to the shell around it too; later it
      // is a key that asks first.
      const asksFirst = () => screen.text().includes('leave this run?');
      await expect.poll(() => !screen.isTaken() || asksFirst(), { timeout: 100_000 }).toBe(true);
      if (asksFirst()) screen.type(CTRL_C);
      hold.release();
      await expect.poll(() => screen.isTaken(), { timeout: 100_000 }).toBe(false);
      expect(screen.hasCursor()).toBe(true);
    });

    test('Ctrl-Z gives the terminal to the shell, and fg brings the screen back with what was typed', async (context) => {
      const { expect } = context;
      const opened = await bench(context);
      const terminal = openTerminal(opened.product, opened, [...ROTATE], { stops: true });
      context.onTestFinished(() => terminal.close());
      const screen = personAt(terminal, expect);
      await screen.answerToTheChange();
      screen.type('orde');
      await screen.shows('❯ orde');
      screen.type(CTRL_Z);
      await screen.shows('$ stopped');
      expect({ taken: screen.isTaken(), cursor: screen.hasCursor() }).toEqual({ taken: false, cursor: true });
      expect(screen.text().replaceAll('\n', '')).toMatch(/ icanon .* echo /u);
      screen.type(KEYS.enter);
      await screen.shows('❯ orde');
      expect(screen.isTaken()).toBe(true);
      screen.type(CTRL_C);
      await screen.asks('leave this run?');
      screen.type(CTRL_C);
      await screen.isGivenBack(130);
      expect(changes(opened.server)).toMatchObject({ patches: 0, posts: 0 });
    });

    test('a terminal that vanishes ends the process, and the run can be resumed', async (context) => {
      const { expect } = context;
      const opened = await bench(context);
      const terminal = openTerminal(opened.product, opened, [...ROTATE, '--plain']);
      const screen = personAt(terminal, expect);
      await screen.asks('prove the newest first?');
      await terminal.close();
      const resumed = await opened.run('resume', ...ANSWERED);
      expect(resumed.code, resumed.stderr).toBe(0);
    });
  });
});

/** What the journal says of the first process that left its run. */
async function whyLeft({ entries }: TestBench): Promise<unknown> {
  const left = (await entries()).find(({ type }) => type === 'run.detached');
  return (left?.body as { readonly why?: string } | undefined)?.why;
}
