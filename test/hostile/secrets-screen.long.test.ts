import { existsSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { personAt } from '../bench-kit/person.ts';
import { PARAMETER, usePlatformBenches } from '../bench-kit/platform-bench.ts';
import { watchTree } from '../bench-kit/process-tree.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { ANSWERED, type TestBench, useBenches } from '../bench-kit/test-bench.ts';
import { leaksInProcesses } from '../e2e/leaks.ts';
import { lookedAfter } from './looked-after.ts';
import { tellAll } from './telling.ts';

const SECRETS = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey];
const canLook = existsSync('/proc/self/environ') && hasTerminal();

describe.skipIf(!canLook)('the output of a full screen contains no secret', () => {
  const benches = useBenches();
  const benchesWithPlatform = usePlatformBenches();

  /**
   * A command on a terminal, with everything that is started for it; the bytes are looked at when it is left.
   */
  function sitDown(context: Pick<TestContext, 'onTestFinished'>, bench: TestBench, ...words: string[]) {
    const watch = watchTree(process.pid);
    const screen = personAt(openTerminal(bench.product, bench, words), expect);
    context.onTestFinished(async () => {
      watch.stop();
      await screen.close();
    });
    const leave = (run: { readonly hears: (text: string) => void }) => {
      watch.stop();
      run.hears(`${screen.bytes()}\n${screen.text()}`);
      const started = watch.seen().filter(({ pid }) => pid !== process.pid);
      expect(started.some(({ cmdline }) => cmdline.includes(words[1] ?? ''))).toBe(true);
      expect(leaksInProcesses(started, [...SECRETS, ...bench.server.keys])).toEqual([]);
    };
    return { ...screen, leave };
  }

  test('during a rotation that is answered key by key', { timeout: 1_200_000 }, async (context) => {
    const bench = await benches(context, { taskMs: 40 });
    await lookedAfter(bench, SECRETS, async (run) => {
      const screen = sitDown(context, bench, 'run', 'rotate-key', '--instance', 'orders');
      await screen.answerToTheChange();
      await screen.confirm();
      await screen.asks('the key is rotated and proven');
      screen.type('q');
      await screen.shows('rc=0');
      screen.leave(run);
      await tellAll(run);
    });
  });

  test('during a whole disaster recovery with a typed key and rebound applications, including all its output', {
    timeout: 1_200_000,
  }, async (context) => {
    const bench = await benchesWithPlatform(context);
    const secrets = [...SECRETS, CANARIES.otherToken, PARAMETER];
    await lookedAfter(bench, secrets, async (run) => {
      const key = ['backup-config', 'set', '--instance', 'orders-dr', '--new-key', '--confirm', 'orders-dr'];
      expect((await run(...key)).code).toBe(0);
      const words = ['run', 'disaster-recovery', '--instance', 'orders'];
      expect((await run(...words, '--prepare', ...ANSWERED)).code).toBe(0);
      const screen = sitDown(context, bench, ...words, '--target', 'orders-dr', '--perform');
      await screen.asks('which backup of orders do you want to recover?');
      screen.type(KEYS.enter);
      await screen.asks('which key was the backup made with?');
      screen.type(KEYS.down);
      await screen.shows('❯ enter a key');
      screen.type(KEYS.enter);
      await screen.asks('❯ hidden:');
      screen.type(CANARIES.oldKey);
      await screen.shows(`${CANARIES.oldKey.length} characters`);
      screen.type(KEYS.enter);
      await screen.asks('type the name of the TARGET');
      screen.type('orders-dr');
      await screen.shows('❯ orders-dr');
      screen.type(KEYS.enter);
      await screen.asks('❯ let the platform rebind them');
      screen.type(KEYS.enter);
      await screen.asks('❯ create the fresh backup');
      screen.type(KEYS.enter);
      await screen.asks(/^2 follow-ups open/mu);
      screen.type('\u0003');
      await screen.asks('the run stays open');
      screen.type('\u0003');
      await screen.shows('rc=130');
      screen.leave(run);
      await tellAll(run);
    });
    expect(bench.land.bindings.filter(({ instance }) => instance === bench.target)).toHaveLength(4);
  });
});
