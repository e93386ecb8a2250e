import { setTimeout as pause } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { useHouses } from './scene.ts';

const RESTORE = ['backups', 'restore', '900041', '--instance', 'orders', '--confirm', 'orders'] as const;
const POINTS = 24;

/** Fractions of the time that an undisturbed call takes, spread evenly and a little past its end. */
const FRACTIONS = Array.from({ length: POINTS }, (_, index) => (index / (POINTS - 1)) * 1.1);

describe('a restore from the command line that is killed', () => {
  const house = useHouses();

  test(`at any of ${POINTS} moments is never sent twice by the next one`, {
    timeout: 180_000,
  }, async (context) => {
    const { expect } = context;
    const undisturbed = await house(context, { taskMs: 20 });
    const began = performance.now();
    expect((await undisturbed.run(...RESTORE)).code).toBe(0);
    const whole = performance.now() - began;

    const ends = new Set<string>();
    for (const fraction of FRACTIONS) {
      // The task never ends, so whatever the next command does, a second one would be wrong.
      const never = new Promise(() => undefined);
      const { start, run, server, entries } = await house(context, {
        trouble: ({ method }) => (method === 'POST' ? { task: { until: never } } : undefined),
      });
      const first = start(...RESTORE);
      await pause(whole * fraction);
      first.child.kill('SIGKILL');
      await first.ended;
      let second = await run(...RESTORE);
      // Armed and never sent: the service is asked, nothing is sent meanwhile, and the next one begins anew.
      const wasArmed = second.code === 1 && second.stderr.includes('never arrived');
      if (wasArmed) {
        expect(server.calls.filter(({ method }) => method === 'POST')).toEqual([]);
        second = await run(...RESTORE);
      }
      expect([0, 3], second.stderr).toContain(second.code);
      expect(server.calls.filter(({ method }) => method === 'POST').length).toBe(1);
      expect((await run('audit', 'verify')).code).toBe(0);
      const ended = (await entries()).filter(({ type }) => type === 'call.ended').length;
      ends.add(`${wasArmed ? 'armed, ' : ''}exit ${second.code}, ${ended} ended`);
    }
    // Killed before it was sent, in between, and after it was over: all of them were met.
    expect(ends.size).toBeGreaterThan(1);
  });
});
