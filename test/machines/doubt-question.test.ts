import { expect, test } from 'vitest';
import { adoptions, lookAgain, sendAgain } from '../../machines/parts/doubt-question.ts';

const failure = (candidates: readonly object[]) => ({
  code: 'doubt.ambiguous',
  shortMessage: 'the answer was lost',
  hints: [],
  evidence: { candidates: candidates as never },
});

test('each task that may be ours is an answer, the most certain first, with why it may be ours or not', () => {
  const options = adoptions(
    failure([
      { id: 3, triggeredAt: null, status: 'queued', certainty: 'possible', why: 'its time is not reported' },
      {
        id: 4,
        triggeredAt: '2026-03-01T03:00:01Z',
        status: 'running',
        certainty: 'certain',
        why: 'it restores backup 7',
      },
      { id: 5, status: 'done' },
    ]),
    'restore',
  );
  expect(options).toEqual([
    {
      event: { type: 'operator.adopt', id: 4 },
      label: 'adopt restore 4',
      hint: 'triggered at 2026-03-01T03:00:01Z, running; certainly ours; it restores backup 7',
    },
    {
      event: { type: 'operator.adopt', id: 3 },
      label: 'adopt restore 3',
      hint: 'triggered at an unknown time, queued; possibly ours; its time is not reported',
    },
    {
      event: { type: 'operator.adopt', id: 5 },
      label: 'adopt restore 5',
      hint: 'triggered at an unknown time, done',
    },
  ]);
});

test('of equally certain tasks the nearest to the request comes first, under the cursor, with its distance', () => {
  const options = adoptions(
    failure([
      { id: 9, certainty: 'likely', secondsFromRequest: 600, fromRequest: '10 min after the request' },
      { id: 8, certainty: 'likely' },
      { id: 7, certainty: 'likely', secondsFromRequest: 3, fromRequest: '3 s after the request' },
      { id: 6, certainty: 'likely', secondsFromRequest: -1, fromRequest: 'at the moment of the request' },
    ]),
    'backup',
  );
  expect(options.map(({ label }) => label)).toEqual([
    'adopt backup 6, triggered at the moment of the request',
    'adopt backup 7, triggered 3 s after the request',
    'adopt backup 9, triggered 10 min after the request',
    'adopt backup 8',
  ]);
  expect(options.some(({ recommended }) => recommended)).toBe(false);
});

test('evidence that does not describe a task gives no answer', () => {
  expect(adoptions(failure([{ id: 'x' }, { status: 'done' }]), 'backup')).toEqual([]);
  expect(adoptions(undefined, 'backup')).toEqual([]);
});

test('looking again and sending again are worded the same everywhere', () => {
  expect(lookAgain('its list of backups').label).toBe('wait and look again');
  expect(sendAgain('creates one more').label).toBe('it never happened: send it again');
});
