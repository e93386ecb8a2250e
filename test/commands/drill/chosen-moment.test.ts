import { expect, test } from 'vitest';
import { chosenMoment } from '../../../src/commands/drill/accidental-deletion.ts';

/** The service's clock is a minute ahead. */
const AHEAD_MS = 60_000;
const FACTS = {
  lastGood: new Date('2026-03-10T12:00:00Z'),
  deletedAt: new Date('2026-03-10T12:00:00.250Z'),
  clock: {
    fromReal: (real: Date) => new Date(real.getTime() + AHEAD_MS),
    toReal: (shown: Date) => new Date(shown.getTime() - AHEAD_MS),
  },
};
const HOW = { rowsLostHow: 'from the chosen moment to the DELETE' };

test('the data loss is measured from the moment that the run restored to, by the clock of the service', () => {
  expect(chosenMoment('2026-03-10T12:01:00.000+00:00', FACTS)).toEqual({
    lost: { rowsLostSeconds: 0.25, ...HOW },
    another: undefined,
  });
  expect(chosenMoment('2026-03-10T11:56:00Z', FACTS)).toEqual({
    lost: { rowsLostSeconds: 300.25, ...HOW },
    another: 'you chose 2026-03-10T11:56:00.000Z; the last good moment was 2026-03-10T12:01:00.000Z',
  });
});

test('from a moment after the DELETE no loss is measured, and the chosen moment is reported', () => {
  expect(chosenMoment('2026-03-10T12:01:05Z', FACTS)).toEqual({
    lost: {},
    another: 'you chose 2026-03-10T12:01:05.000Z; the last good moment was 2026-03-10T12:01:00.000Z',
  });
});

test('where the service does not name the moment, the last good one is assumed', () => {
  expect(chosenMoment(undefined, FACTS).lost.rowsLostSeconds).toBe(0.25);
});
