import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectStatic, TestContext } from 'vitest';
import { FIRST_REPEAT_MS } from '../../src/tui/screens/run/screen-state.ts';
import type { Product } from './product.ts';
import { KEYS, type Terminal } from './pseudo-terminal.ts';
import { openTerminal } from './terminal.ts';
import { type BenchOptions, openBench } from './test-bench.ts';
import { until } from './until.ts';

/**
 * How long a person reads. It is longer than the screen demands: a screen that was busy just before a key
 * counts that key as pressed earlier.
 */
export const READING_MS = FIRST_REPEAT_MS + 300;

/** A bench, and a person who opens terminals on it; what was opened is closed with the test. */
export async function sitDown(product: Product, context: TestContext, options: BenchOptions = {}) {
  const bench = await openBench(product, options);
  const terminals: Terminal[] = [];
  context.onTestFinished(async () => {
    await Promise.all(terminals.map((terminal) => terminal.close()));
    await bench.close();
  });
  const open = (...args: readonly string[]) => {
    const typed = join(bench.folder, `typed-${terminals.length}`);
    const terminal = openTerminal(product, bench, args, { typed });
    terminals.push(terminal);
    return personAt(terminal, context.expect);
  };
  return { bench, open };
}

/** After this time without an effect a person presses a key again. */
const AGAIN_MS = 20_000;

/**
 * A person who reads before typing. A screen that was busy counts a key as pressed before the question
 * appeared, and ignores it: as people do, this one then presses it again.
 */
export function personAt(terminal: Terminal, expect: ExpectStatic) {
  let asked: string | RegExp | undefined;
  let pressed: { readonly keys: string; readonly at: string | RegExp } | undefined;
  const isShown = (wanted: string | RegExp) =>
    typeof wanted === 'string' ? terminal.text().includes(wanted) : wanted.test(terminal.text());
  const type = (keys: string) => {
    pressed = asked === undefined ? undefined : { keys, at: asked };
    asked = undefined;
    terminal.type(keys);
  };
  const shows = async (wanted: string | RegExp) => {
    let sinceMs = Date.now();
    const text = () => {
      if (pressed !== undefined && Date.now() - sinceMs >= AGAIN_MS && isShown(pressed.at)) {
        sinceMs = Date.now();
        terminal.type(pressed.keys);
      }
      return terminal.text();
    };
    await expect.poll(text, { timeout: 300_000, interval: 20 }).toMatch(wanted);
    pressed = undefined;
  };
  /**
   * Shows something to answer, long enough for a key to be taken for an answer to it. No person reads faster.
   */
  const asks = async (wanted: string | RegExp) => {
    await shows(wanted);
    await pause(READING_MS);
    asked = wanted;
  };
  return {
    ...terminal,
    type,
    shows,
    asks,
    /**
     * Holds a key down for this many of its repeats, as a terminal sends them: after a delay, then thirty a
     * second. The delay is the shortest that keyboards have, so that a busy machine adds to a real one.
     * Returns the longest time between two of them as they reached the terminal: a machine that is too busy
     * lets the key go, as no keyboard does.
     */
    hold: async (key: string, repeats: number) => {
      const before = terminal.typedAt().length;
      for (let at = 0; at <= repeats; at += 1) {
        terminal.type(key);
        await pause(at === 0 ? 250 : 33);
      }
      const held = () => terminal.typedAt().slice(before);
      await until(() => held().length > repeats);
      return Math.max(...held().map((moment, at, all) => moment - (all[at - 1] ?? moment)));
    },
    /** Takes the recommended answers as far as the name that has to be typed. */
    answerToTheChange: async () => {
      await asks('prove the newest first?');
      type(KEYS.enter);
      await asks('where does the new key come from?');
      type(KEYS.enter);
      await asks("type the instance's name");
    },
    /** Has maintenance updates forbidden for the time of the run. */
    holdUpdatesBack: async () => {
      await asks('hold them back?');
      type(KEYS.down);
      await shows(/❯ they are allowed now/u);
      type(KEYS.enter);
      await asks('how do you know that they are allowed now?');
      type('the platform team says so');
      await shows('allowed now?: the platform team says so');
      type(KEYS.enter);
    },
    confirm: async () => {
      type('orders');
      await shows('❯ orders');
      type(KEYS.enter);
    },
    isGivenBack: async (exitCode: number) => {
      await shows('$ after');
      expect(terminal.isTaken()).toBe(false);
      expect(terminal.hasCursor()).toBe(true);
      expect(terminal.text()).toContain('$ before');
      expect(terminal.text()).toContain(`rc=${exitCode}`);
      // Canonical mode and echo, as stty(1) sees them.
      expect(terminal.text().replaceAll('\n', '')).toMatch(/ icanon .* echo /u);
    },
  };
}
