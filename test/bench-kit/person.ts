import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectStatic } from 'vitest';
import { FIRST_REPEAT_MS } from '../../src/tui/screens/run/keyboard.ts';
import { KEYS, type Terminal } from './pseudo-terminal.ts';

/**
 * How long a person reads: longer than the screen demands, because a screen that was held up just before a
 * key takes it for one that was pressed before that.
 */
export const READING_MS = FIRST_REPEAT_MS + 300;

/** Somebody who reads before typing. */
export function personAt(terminal: Terminal, expect: ExpectStatic) {
  const shows = async (wanted: string | RegExp) => {
    await expect.poll(() => terminal.text(), { timeout: 30_000, interval: 20 }).toMatch(wanted);
  };
  /**
   * Shows something to answer, long enough for a key to be taken for an answer to it. Nobody reads faster.
   */
  const asks = async (wanted: string | RegExp) => {
    await shows(wanted);
    await pause(READING_MS);
  };
  return {
    ...terminal,
    shows,
    asks,
    /**
     * Holds a key down for so many of its repeats, as a terminal sends them: after a delay, then thirty a
     * second. The delay is the shortest that keyboards have, so that it is still one where a busy machine adds
     * to it.
     */
    hold: async (key: string, repeats: number) => {
      terminal.type(key);
      await pause(250);
      for (let at = 0; at < repeats; at += 1) {
        terminal.type(key);
        await pause(33);
      }
    },
    /** Takes the recommended answers as far as the name that has to be typed. */
    answerToTheChange: async () => {
      await asks('prove the newest first?');
      terminal.type(KEYS.enter);
      await asks('where does the new key come from?');
      terminal.type(KEYS.enter);
      await asks("type the instance's name");
    },
    /** Has maintenance updates forbidden for the time of the run. */
    holdUpdatesBack: async () => {
      await asks('hold them back?');
      terminal.type(KEYS.down);
      await shows(/❯ they are allowed now/u);
      terminal.type(KEYS.enter);
      await asks('how do you know that they are allowed now?');
      terminal.type('the platform team says so');
      await shows('allowed now?: the platform team says so');
      terminal.type(KEYS.enter);
    },
    confirm: async () => {
      terminal.type('orders');
      await shows('❯ orders');
      terminal.type(KEYS.enter);
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
