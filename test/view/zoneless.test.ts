import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followUpRows } from '../../src/report/report.ts';
import { stakesWords } from '../../src/view/question-words.ts';
import { viewFollowUp } from '../../src/view/view-follow-ups.ts';
import { at, journalOf, started } from '../report/recovery.ts';

// Far from UTC, so that a time that is read as local is hours off.
beforeEach(() => vi.stubEnv('TZ', 'Asia/Tokyo'));
afterEach(() => vi.unstubAllEnvs());

/** The end of a restore, as a service writes it that names no zone: UTC. */
const RESTORED = '2026-03-01T03:00:00';

const followUp = {
  ...{ id: 'rebind-api', kind: 'rebind', what: 'rebind api', subject: 'api' },
  ...{ since: RESTORED, dueSeconds: 900 },
};

test('how long a follow-up is open and how much time is left is counted from the end of the restore in UTC', () => {
  const { age, left } = viewFollowUp(followUp, 'Ada', new Date('2026-03-01T03:10:00Z'));
  expect({ age, left }).toEqual({ age: 600, left: 300 });
});

test('a report says how long a follow-up was open from the end of the restore in UTC', () => {
  const closed = { how: 'hand', text: 'seen', at: at(600), evidence: {} } as const;
  const [row] = followUpRows(journalOf([started()]), [{ ...followUp, closed }]);
  expect(row?.openSeconds).toBe(600);
});

test('the age of the data that a restore loses is counted in UTC', () => {
  const stakes = { overwritten: 'all', lost: 'what is newer', lostSince: RESTORED, wayBack: 'none' };
  const words = stakesWords(stakes, Date.UTC(2026, 2, 1, 3, 10));
  expect(words.map(({ text }) => text)).toContain('what is newer (10 min ago)');
});
