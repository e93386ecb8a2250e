import { describe, expect, test } from 'vitest';
import { assertRecurrence, lastTime, nextTimes } from '../../src/queue/cron.ts';

const berlin = { cron: '30 2 * * *', zone: 'Europe/Berlin' };
const iso = (times: readonly Date[]) => times.map((time) => time.toISOString().slice(5, 16));

describe('the times of a schedule', () => {
  test('are five ahead by default, once a day, even when an hour is left out', () => {
    expect(iso(nextTimes(berlin, new Date('2026-03-27T12:00:00Z')))).toEqual([
      '03-28T01:30',
      '03-29T01:30',
      '03-30T00:30',
      '03-31T00:30',
      '04-01T00:30',
    ]);
  });

  test('are once a day when an hour comes twice', () => {
    expect(iso(nextTimes(berlin, new Date('2026-10-23T12:00:00Z'), 3))).toEqual([
      '10-24T00:30',
      '10-25T00:30',
      '10-26T01:30',
    ]);
  });

  test.each(['2026-03-29', '2026-10-25'])('are the same from any moment of %s', (day) => {
    for (const cron of ['30 2 * * *', '0 2 * * *', '0 3 * * *', '*/20 * * * *', '15 1-3 * * *']) {
      const recurrence = { cron, zone: 'Europe/Berlin' };
      const [start, end] = [new Date(`${day}T00:00:00Z`), new Date(`${day}T06:00:00Z`)];
      const all = nextTimes(recurrence, new Date(start.getTime() - 86_400_000), 200);
      for (let time = start.getTime(); time < end.getTime(); time += 10 * 60_000) {
        const moment = new Date(time);
        const after = all.filter((each) => each > moment);
        expect(nextTimes(recurrence, moment, 2)).toEqual(after.slice(0, 2));
        const before = all.findLast((each) => each <= moment);
        expect(lastTime(recurrence, all[0] ?? start, moment)).toEqual(before === all[0] ? undefined : before);
      }
    }
  });

  test('are found far back, but not at or before the given moment', () => {
    const yearly = { cron: '0 0 29 2 *', zone: 'UTC' };
    const leap = new Date('2024-02-29T00:00:00Z');
    expect(lastTime(yearly, new Date('2023-01-01T00:00:00Z'), new Date('2026-01-01T00:00:00Z'))).toEqual(
      leap,
    );
    expect(lastTime(yearly, leap, new Date('2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(
      lastTime(berlin, new Date('2026-06-02T00:30:00Z'), new Date('2026-06-02T00:30:00Z')),
    ).toBeUndefined();
  });
});

describe('a schedule', () => {
  test.each(['30 2 * * *', '*/5 0-6,22 1 jan mon-fri', '0 0 L * *', '0 0 * * 1#2', '0 4 * * THU'])(
    'may be %s',
    (cron) => expect(() => assertRecurrence({ name: 'x', cron, zone: 'Europe/Berlin' })).not.toThrow(),
  );

  test.each([
    ['', 'five fields'],
    ['@daily', 'five fields'],
    ['0 30 2 * * *', 'five fields'],
    ['H 2 * * *', 'five fields'],
    ['0,H 2 * * *', 'five fields'],
    ['61 2 * * *', '61 is not within 0-59'],
    ['5-1 2 * * *', 'it cannot be read'],
    ['0 0 30 2 *', 'there is no such day'],
  ])('may not be %j', (cron, why) => {
    const refused = { code: 'queue.schedule', shortMessage: expect.stringContaining(why) };
    expect(() => assertRecurrence({ name: 'x', cron, zone: 'UTC' })).toThrow(
      expect.objectContaining(refused),
    );
  });

  test('needs a time zone that exists', () => {
    expect(() => assertRecurrence({ name: 'x', ...berlin, zone: 'Europe/Berln' })).toThrow(
      'there is no time zone Europe/Berln',
    );
  });
});
