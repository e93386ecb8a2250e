import { describe, expect, test } from 'vitest';
import {
  expectedEnd,
  expectedRunEnd,
  type UsualTimes,
  usualSeconds,
} from '../../src/view/app/usual-times.ts';

const NOW = new Date('2026-11-23T14:30:20.000Z');

function usual(seconds: number, longest = seconds): UsualTimes {
  return { steps: new Map([['restore', seconds]]), longest: new Map([['restore', longest]]), runs: 3 };
}

describe('the expected end of a step', () => {
  test.each([
    ['to the minute, rounded up, where it takes minutes', 240, 60, 'usually 4 min; expected 14:34 UTC'],
    ['with minutes no finer than they are known', 251, 60, 'usually 4 min; expected 14:34 UTC'],
    ['to the second where it takes less than two minutes', 45, 15, 'usually 45 s; expected 14:30:50 UTC'],
    ['not any more when it has passed, which half of all runs do', 240, 250, 'usually 4 min'],
    ['not at all for what is over before it is read', 4, 0, undefined],
  ])('is said %s', (_, seconds, worked, words) => {
    expect(expectedEnd(usual(seconds), 'restore', worked, NOW)).toBe(words);
  });

  test('stays the same while the step continues', () => {
    const at = (worked: number) =>
      expectedEnd(usual(240), 'restore', worked, new Date(NOW.getTime() + worked * 1000));
    expect(new Set([0, 1, 59, 120, 239].map(at)).size).toBe(1);
  });

  test('is called longer than usual only when it is clearly past every earlier run', () => {
    const words = (worked: number, longest: number) =>
      expectedEnd(usual(240, longest), 'restore', worked, NOW);
    expect(words(364, 240)).toBe('usually 4 min');
    expect(words(366, 240)).toBe('longer than usual (4 min)');
    expect(words(366, 900)).toBe('usually 4 min');
    expect(words(904, 900)).toBe('usually 4 min');
    expect(words(906, 900)).toBe('longer than usual (4 min)');
  });

  test('is not known without a history, or for a step that no run has passed', () => {
    expect(expectedEnd(undefined, 'restore', 0, NOW)).toBeUndefined();
    expect(expectedEnd(usual(240), 'count', 0, NOW)).toBeUndefined();
    expect(usualSeconds(undefined, 'restore')).toBeUndefined();
  });
});

describe('the expected end of a run', () => {
  const whole = (wholeSeconds: number | undefined, longestWhole = wholeSeconds): UsualTimes => ({
    steps: new Map(),
    longest: new Map(),
    wholeSeconds,
    longestWhole,
    runs: 5,
  });
  const WITHOUT = ', without the waits for you';

  test.each([
    ['to the minute, rounded up', 720, 720, 60, `usually 12 min; expected to end 14:42 UTC${WITHOUT}`],
    [
      'to the second below two minutes',
      90,
      90,
      60,
      `usually 1 min 30 s; expected to end 14:30:50 UTC${WITHOUT}`,
    ],
    ['no more once it has passed', 720, 900, 800, `usually 12 min${WITHOUT}`],
    ['no more in any of half the runs that take longer', 720, 2000, 1990, `usually 12 min${WITHOUT}`],
    ['as longer than usual past all of them', 720, 2000, 2006, `longer than usual (12 min)${WITHOUT}`],
    ['not at all for what is over before it is read', 4, 4, 0, undefined],
    ['not at all where no run was proven before', undefined, undefined, 0, undefined],
  ])('is said %s', (_, usually, longest, worked, words) => {
    expect(expectedRunEnd(whole(usually, longest), worked, NOW)).toBe(words);
  });

  test('is not known before the history has been read', () => {
    expect(expectedRunEnd(undefined, 0, NOW)).toBeUndefined();
  });
});
