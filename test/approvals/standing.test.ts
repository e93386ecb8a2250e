import { describe, expect, test } from 'vitest';
import { challengeText } from '../../src/approvals/challenge.ts';
import { isSamePerson } from '../../src/approvals/same-person.ts';
import { isExpired, momentOf, standingOf } from '../../src/approvals/standing.ts';
import type { Entry } from '../../src/journal/journal.ts';

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
  return { stream: 'run/01JD', seq: 1, at, by: 'robin', type, body, prev: '', hash: '' } as Entry;
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
const moved = entry('event', { event: { type: 'operator.confirm' }, to: 'confirming' });

describe('what waits for an approval', () => {
  test('is the newest challenge since the run has moved; that of an earlier confirmation counts for nothing', () => {
    expect(standingOf([moved, asked('a')]).asked?.challenge).toBe('a');
    expect(standingOf([moved, asked('a'), asked('b')]).asked?.challenge).toBe('b');
    expect(standingOf([moved, asked('a'), moved]).asked).toBeUndefined();
    const taken = entry('approval.withdrawn', { challenge: 'a', approver: 'ada', reason: 'no' });
    expect(standingOf([moved, asked('a'), taken]).withdrawn?.reason).toBe('no');
    expect(standingOf([moved, asked('a'), taken, asked('b')]).withdrawn).toBeUndefined();
  });

  test('expires at its end to the millisecond, and is not good before it was asked', () => {
    const at = (time: string) => isExpired(TEXT, new Date(time));
    expect(at('2026-11-21T03:59:59.999Z')).toBe(false);
    expect(at('2026-11-21T04:00:00.000Z')).toBe(true);
    expect(at('2026-11-21T02:30:00.000Z')).toBe(true);
    expect(isExpired('anything else', new Date(0))).toBe(true);
  });

  test('a clock that is set back makes nothing good again', () => {
    const later = entry('run.resumed', { pid: 1 }, '2026-11-21T05:00:00.000Z');
    const moment = momentOf([moved, asked('a'), later], new Date('2026-11-21T03:10:00.000Z'));
    expect(isExpired(TEXT, moment)).toBe(true);
  });
});

describe('the second person', () => {
  test.each([
    [['robin'], true],
    [['ROBIN'], true],
    [['robin@example.com'], true],
    [['ada@example.com', 'Robin@Example.com'], true],
    [['ada@example.com'], false],
    [['robina@example.com'], false],
  ] as const)('%j is the one who asks: %s', (principals, isSame) => {
    expect(isSamePerson(principals, [undefined], { name: 'Robin' })).toBe(isSame);
  });

  test('is neither who asked nor who confirms, when these are two', () => {
    expect(isSamePerson(['ada@example.com'], ['ada@example.com'], { name: 'robin' })).toBe(true);
    expect(isSamePerson(['robin@x.example'], ['ada'], { name: 'robin', email: 'robin@example.com' })).toBe(
      false,
    );
  });
});
