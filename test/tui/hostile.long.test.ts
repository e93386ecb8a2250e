import { describe, expect, it } from 'vitest';
import { firstFrame } from '../../src/tui/first-frame.ts';
import { showRun } from '../../src/tui/show-run.ts';
import { createFakeRun } from './fake-run.ts';
import { createFakeTerminal, KEYS } from './fake-terminal.ts';
import { FORBIDDEN, HOSTILE, HOSTILE_KINDS, hostileView, withoutOurSequences } from './hostile-views.ts';

describe('text that acts on terminals', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text), text]))(
    '%s does nothing in any place of the screen',
    async (_, text) => {
      for (const kind of HOSTILE_KINDS) {
        const view = hostileView(text, kind);
        const terminal = createFakeTerminal(140, 60);
        const run = createFakeRun(view);
        run.fallback = () => `${text}\n${text}`;
        let now = 0;
        const shown = showRun(run, terminal.streams, { now: () => (now += 1000) });
        await terminal.until((screen) => screen.includes('LIVE') && screen.includes('HURT'));
        if (kind === 'choice' || kind === 'followUps') {
          await terminal.type(KEYS.enter);
          await terminal.paste(text.replaceAll('\n', ''));
        }
        await terminal.type('\u0013');
        await terminal.until('fallback script');
        await terminal.type(KEYS.escape);
        await run.detach();
        await shown;
        const rest = withoutOurSequences(terminal.bytes());
        expect(rest).toContain('HURT');
        expect(around(rest)).toBe('');
      }
    },
  );

  it('does nothing in the first frame either', () => {
    for (const text of HOSTILE) {
      const frame = firstFrame({
        columns: 140,
        rows: 20,
        env: {},
        note: text,
        ...hostileView(text, 'choice'),
      });
      // The clock is cut to its last characters, so the marker of the instance counts.
      expect(withoutOurSequences(frame)).toContain('HURT');
      expect(around(withoutOurSequences(frame))).toBe('');
    }
  });
});

/** The place where something forbidden is left, readable; empty when nothing is. */
function around(text: string): string {
  const at = text.search(FORBIDDEN);
  return at < 0 ? '' : JSON.stringify(text.slice(Math.max(0, at - 20), at + 20));
}
