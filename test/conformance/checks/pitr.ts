import type { Check } from '../check.ts';
import { call, ENDPOINTS, successOf, UNKNOWN } from '../endpoints.ts';
import { ensure, expectBody, expectError, expectRefusal } from '../expect.ts';
import { expectPast, followBackup, followRestore, followState } from '../follow.ts';
import { accepted, act, ask, readRestores } from '../reads.ts';
import { Created, PitrAccepted, Range } from '../shapes.ts';
import type { Subject } from '../subject.ts';

const DAY = 86_400_000;

/** Sections 2.7 and 4.1 (17), (18). */
export const PITR: readonly Check[] = [
  {
    id: 'pitr.range',
    section: '2.7',
    title: 'the range of points in time begins before it ends, and ends before now',
    needs: { archiving: true },
    run: async (subject) => {
      const { value, exchange } = await rangeOf(subject);
      const [start, end] = [Date.parse(value.start_time), Date.parse(value.end_time)];
      ensure(start <= end, 'start_time is later than end_time', exchange);
      expectPast('end_time', end, exchange);
    },
  },
  {
    id: 'pitr.range-standard',
    section: '4.1 rule 4',
    title: 'an instance without continuous archiving has no range',
    needs: { archiving: false },
    run: async (subject) => {
      expectError(await call(subject.api, ENDPOINTS.pitr, UNKNOWN), [404], 'v1');
    },
  },
  {
    id: 'pitr.restore-standard',
    section: '4.1 rule 4',
    title: 'an instance without continuous archiving cannot be restored to a point in time',
    needs: { archiving: false, revisions: [62], level: 'safe' },
    run: async (subject) => {
      expectError(await call(subject.api, ENDPOINTS.pitrRestore, UNKNOWN), [404], 'v1');
    },
  },
  refused('early', 'before start_time', ({ start }) => new Date(start - DAY).toISOString()),
  refused('late', 'after end_time', ({ end }) => new Date(end + DAY).toISOString()),
  refused('no-time', 'that is no time', () => 'yesterday at noon'),
  {
    id: 'pitr.no-target',
    section: '4.1 (18)',
    title: 'a restore to a point in time without target_time is refused',
    needs: { archiving: true, revisions: [62], level: 'all' },
    run: async (subject) => {
      expectRefusal(await call(subject.api, ENDPOINTS.pitrRestore, UNKNOWN, {}));
    },
  },
  {
    id: 'pitr.restore',
    section: '4.1 (18)',
    title:
      'a restore to a point in time is queued, appears in the list with that time, and is done in the end',
    needs: { archiving: true, revisions: [62], level: 'all' },
    run: async (subject) => {
      await followState(subject);
      const range = await rangeOf(subject);
      const before = await readRestores(subject);
      const target_time = range.value.end_time;
      const answer = await accepted(subject, ENDPOINTS.pitrRestore, { body: { target_time } });
      expectBody(answer, successOf(ENDPOINTS.pitrRestore, subject.revision), PitrAccepted);
      const after = await readRestores(subject);
      const made = after.value.filter(({ id }) => !before.value.some((restore) => restore.id === id));
      ensure(made.length === 1, `${made.length} new restores in the list instead of one`, after.exchange);
      const last = await followRestore(subject, subject.api, made[0]?.id ?? 0);
      ensure(last.status === 'done', `the restore has ${last.status}`, last.exchange);
      const from = last.value.metadata?.restored_from ?? '';
      ensure(Date.parse(from) === Date.parse(target_time), 'restored_from is not target_time', last.exchange);
      await followState(subject);
    },
  },
];

interface Span {
  readonly start: number;
  readonly end: number;
}

function refused(id: string, words: string, time: (range: Span) => string): Check {
  return {
    id: `pitr.${id}`,
    section: '4.1 (18)',
    title: `a target_time ${words} is refused, and nothing is restored`,
    needs: { archiving: true, revisions: [62], level: 'all' },
    run: async (subject) => {
      await followState(subject);
      const { value } = await rangeOf(subject);
      const span = { start: Date.parse(value.start_time), end: Date.parse(value.end_time) };
      const before = await readRestores(subject);
      expectRefusal(await call(subject.api, ENDPOINTS.pitrRestore, UNKNOWN, { target_time: time(span) }));
      const after = await readRestores(subject);
      ensure(after.value.length === before.value.length, 'there is a new restore', after.exchange);
    },
  };
}

/** After a restore there may be no range until there is a new backup, so one is made first. */
async function rangeOf(subject: Subject) {
  const exchange = await call(subject.api, ENDPOINTS.pitr, UNKNOWN);
  if (exchange.status === 404 && subject.level !== 'none') {
    const { value } = await act(subject, ENDPOINTS.createBackup, Created);
    await followBackup(subject, value.id);
  }
  return await ask(subject, ENDPOINTS.pitr, Range);
}
