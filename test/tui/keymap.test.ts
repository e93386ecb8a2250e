import { describe, expect, it } from 'vitest';
import type { Mode } from '../../src/tui/screens/run/key-binding.ts';
import { footerBindings, helpBindings, intentOf, KEYMAP } from '../../src/tui/screens/run/keymap.ts';

const MODES: readonly Mode[] = [
  'watch',
  'choice',
  'ways',
  'input',
  'shut',
  'reason',
  'picker',
  'reading',
  'over',
  'leave',
  'help',
  'fallback',
  'log',
  'log-filter',
  'step',
];

describe('the keymap', () => {
  it.each(MODES)('gives every key one meaning in mode %s', (mode) => {
    const keys = KEYMAP.filter(({ modes }) => modes.includes(mode)).flatMap((binding) => binding.keys);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  it.each(MODES)('has a way out by Escape and by Ctrl-C in mode %s', (mode) => {
    expect(intentOf(mode, 'escape')).toBeDefined();
    expect(intentOf(mode, 'ctrl+c')).toBeDefined();
  });

  it('binds no printable character while text is typed', () => {
    const keys = KEYMAP.filter(({ modes }) =>
      modes.some((mode) => ['input', 'shut', 'reason', 'picker', 'reading', 'log-filter'].includes(mode)),
    ).flatMap((binding) => binding.keys);
    expect(keys.filter((key) => key.length === 1)).toEqual([]);
  });

  it('leaves at once only from the leave dialogue', () => {
    expect(KEYMAP.filter(({ intent }) => intent === 'leave-now').flatMap(({ modes }) => modes)).toEqual([
      'leave',
    ]);
  });

  it('answers a question with Enter only', () => {
    const answering = KEYMAP.filter(({ intent }) => intent === 'choose' || intent === 'submit');
    expect(new Set(answering.flatMap(({ keys }) => keys))).toEqual(new Set(['enter']));
  });

  it('shows the key for waking a run only while the run is paused', () => {
    const shown = (isPaused: boolean) =>
      footerBindings('watch', {
        isPaused,
        hasCommand: false,
        hasWay: false,
        hasPalette: false,
        isFree: false,
        isInDrill: false,
      }).map(({ intent }) => intent);
    expect(shown(false)).not.toContain('wake');
    expect(shown(true)).toContain('wake');
  });

  it('explains every key that works outside of dialogues', () => {
    const explained = helpBindings().map(({ intent }) => intent);
    for (const { intent, modes, shown } of KEYMAP) {
      if (
        shown === '' ||
        modes.every((mode) => ['leave', 'help', 'fallback', 'log', 'log-filter', 'step'].includes(mode))
      )
        continue;
      expect(explained).toContain(intent);
    }
  });
});
