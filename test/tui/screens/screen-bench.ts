import { expect } from 'vitest';
import type { Size } from '../../../src/tui/bands.ts';
import { glyphsFor } from '../../../src/tui/glyphs.ts';
import { lineWidth } from '../../../src/tui/line.ts';
import type { AppEffect, LiveScreen } from '../../../src/tui/live-screen.ts';
import type { OpenScreen } from '../../../src/tui/module-screen.ts';
import type { Fact, Facts, SourceName, Sources } from '../../../src/view/app/sources.ts';
import { rowsIn } from '../shown.ts';

const NOW = new Date('2026-11-23T12:00:00Z');
const LOOK = { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: true };
const SIZES: readonly Size[] = [
  { columns: 40, rows: 12 },
  { columns: 80, rows: 24 },
  { columns: 100, rows: 30 },
  { columns: 160, rows: 50 },
];

/** Answers by source and what names them, as `known` makes them. */
type Answers = Partial<{
  [Name in SourceName]: (of: Sources[Name]['of']) => Sources[Name]['value'] | undefined;
}>;

/** Why a source could not be asked. */
type Failed = Partial<Record<SourceName, Fact<never>>>;

/** Facts that are known since a moment ago; what has no answer was not asked. */
function factsOf(answers: Answers, failed: Failed): Facts {
  return {
    get: (source, of) => {
      const failure = failed[source];
      if (failure !== undefined) return failure;
      const value = (answers[source] as ((of: unknown) => unknown) | undefined)?.(of);
      if (value === undefined) return { part: { state: 'unasked' }, isAsking: false };
      return { part: { state: 'known', at: NOW, value }, last: { at: NOW, value }, isAsking: false } as never;
    },
  };
}

/** A screen under test, and what it asked for. */
export function shown(
  open: OpenScreen,
  answers: Answers,
  size: Size = { columns: 80, rows: 24 },
  failed: Failed = {},
) {
  const effects: AppEffect[] = [];
  const screen: LiveScreen = open({
    facts: factsOf(answers, failed),
    now: () => NOW,
    onEffect: (effect) => effects.push(effect),
  });
  const text = (at: Size = size) => rowsIn(screen.layOut(at, LOOK));
  text();
  return {
    screen,
    effects,
    text: () => text().join('\n'),
    press: (...keys: readonly string[]) => {
      for (const key of keys)
        screen.press({ kind: 'key', key, ...(key.length === 1 ? { text: key } : {}) }, size);
    },
    /** Every row fits, and all rows of the terminal are there, in each size. */
    fits: () => {
      for (const one of SIZES) {
        const { bands } = screen.layOut(one, LOOK);
        expect(bands.reduce((sum, { height }) => sum + height, 0)).toBe(one.rows);
        for (const { panes } of bands)
          for (const { lines, width } of panes)
            for (const line of lines)
              expect(lineWidth(line)).toBeLessThanOrEqual(Math.min(width, one.columns));
      }
    },
  };
}
