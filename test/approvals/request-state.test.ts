import { describe, expect, test } from 'vitest';
import { challengeText } from '../../src/approvals/challenge.ts';
import {
  isAskedOnRecord,
  isExpired,
  momentOf,
  momentSinceAsked,
  requestStateOf,
} from '../../src/approvals/request-state.ts';
import type { Entry } from '../../src/store/journal.ts';

const TEXT = challengeText({
  order: 'restart orders',
  run: '01JD',
  runbook: 'change-instance 1',
  mode: 'LIVE',
  instance: 'orders',
  target: 'orders',
  url: 'https://example.com',
  state: 'confirming',
  entry: '3',
  requester: 'robin',
  asked: '2026-11-21T03:00:00.000Z',
  expires: '2026-11-21T04:00:00.000Z',
  plan: '00',
  prompt: 'type it',
  facts: [],
  overrides: [],
  calls: [],
});

function entry(type: string, body: Entry['body'], at = '2026-11-21T03:00:00.000Z'): Entry {
  return { stream: 'run/01JD', seq: 1, index: 0, at, by: 'robin', type, body, hash: '' };
}

const asked = (challenge: string) =>
  entry('approval.asked', {
    challenge,
    text: TEXT,
    target: 'orders',
    order: 'restart orders',
    plan: '00',
    requester: 'robin',
    expiresAt: '2026-11-21T04:00:00.000Z',
  });
const NOW = new Date('2026-11-21T03:20:00.000Z');
const moved = entry('event', { event: { type: 'operator.confirm' }, to: 'confirming' });

describe('what waits for an approval', () => {
  test('is the newest challenge since the run has moved; that of an earlier confirmation does not count', () => {
    expect(requestStateOf([moved, asked('a')]).asked?.challenge).toBe('a');
    expect(requestStateOf([moved, asked('a'), asked('b')]).asked?.challenge).toBe('b');
    expect(requestStateOf([moved, asked('a'), moved]).asked).toBeUndefined();
    const taken = entry('approval.withdrawn', { challenge: 'a', approver: 'ada', reason: 'no' });
    expect(requestStateOf([moved, asked('a'), taken]).withdrawn?.reason).toBe('no');
    expect(requestStateOf([moved, asked('a'), taken, asked('b')]).withdrawn).toBeUndefined();
  });

  test('expires at its end to the millisecond, and is not valid before it was requested', () => {
    const at = (time: string) => isExpired(TEXT, new Date(time));
    expect(at('2026-11-21T03:59:59.999Z')).toBe(false);
    expect(at('2026-11-21T04:00:00.000Z')).toBe(true);
    expect(at('2026-11-21T02:30:00.000Z')).toBe(true);
    expect(isExpired('anything else', new Date(0))).toBe(true);
  });

  test('a clock that is set back makes nothing valid again', () => {
    const later = entry('run.resumed', { pid: 1 }, '2026-11-21T05:00:00.000Z');
    const moment = momentOf([moved, asked('a'), later], new Date('2026-11-21T03:10:00.000Z'));
    expect(isExpired(TEXT, moment)).toBe(true);
  });
});

describe('an approval that a run has asked for', () => {
  const confirming = { state: 'confirming', target: 'orders' };

  test('is required at that step until the run ends, and at no other step', () => {
    expect(isAskedOnRecord([moved, asked('a')], confirming)).toBe(true);
    expect(isAskedOnRecord([moved, asked('a'), moved, moved], confirming)).toBe(true);
    expect(isAskedOnRecord([moved], confirming)).toBe(false);
    expect(isAskedOnRecord([moved, asked('a')], { ...confirming, state: 'elsewhere' })).toBe(false);
    expect(isAskedOnRecord([moved, asked('a')], { ...confirming, target: 'payroll' })).toBe(false);
  });

  test('is still required whatever is recorded after the request', () => {
    const unreadable = entry('approval.asked', { challenge: 'b', text: 'no request' });
    const bypassed = entry('approval.bypassed', { challenge: 'a', order: 'o', reason: 'r' });
    expect(isAskedOnRecord([moved, asked('a'), unreadable, bypassed], confirming)).toBe(true);
  });

  test('expires by the clock at the time of the request, however this clock was moved since', () => {
    const at = (seconds: readonly number[]) => {
      const notes = seconds.map((one) => entry('clock.moved', { seconds: one }));
      return momentSinceAsked([moved, entry('clock.moved', { seconds: -9_000 }), asked('a'), ...notes], NOW);
    };
    const later = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
    expect(at([])).toEqual(NOW);
    expect(at([-1800])).toEqual(later(30));
    expect(at([-1800, -600])).toEqual(later(40));
    expect(at([1800])).toEqual(NOW);
    expect(at([1800, -1800])).toEqual(NOW);
    const beside = entry('clock.moved', { seconds: -1800, entries: 'unmoved' });
    expect(momentSinceAsked([moved, asked('a'), beside], NOW)).toEqual(NOW);
  });
});
