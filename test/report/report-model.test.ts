import { expect, test } from 'vitest';
import { measure } from '../../src/report/measure/measure.ts';
import { Report } from '../../src/report/model/model.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { longNight } from './long-night.ts';
import { at, journalOf, performed, recovery, sliceOf, started } from './recovery.ts';
import { rotation } from './rotation.ts';

const generatedAt = new Date('2026-03-02T00:00:00Z');
const options = { generatedAt, sliceOf };
const night = buildReport(longNight, {
  ...options,
  measures: measure(longNight, { sliceOf, followUps: [] }),
});
const day = buildReport(recovery, { ...options, measures: measure(recovery, { sliceOf }) });

test.each([
  ['a recovery', day],
  ['a night in which everything happens', night],
  ['a rotation', buildReport(rotation, options)],
  ['no entries', buildReport([], options)],
])('the JSON of %s is the report itself, one line of ASCII that its schema reads back', (_what, report) => {
  const json = renderReport(report, 'json');
  expect(json).toMatch(/^[ -~]+\n$/u);
  expect(JSON.parse(json)).toEqual(report);
  expect(Report.parse(JSON.parse(json))).toEqual(report);
  expect(report.schema).toBe('lifeboat.report/1');
});

test('the people who took part are listed with the evidence, and a login does not count as proof', () => {
  expect(night.people.map(({ name, roles }) => [name, roles])).toEqual([
    ['Ada', ['operator']],
    ['ada', ['acted']],
    ['grace@example.com', ['approver']],
  ]);
  expect(night.people[2]?.proof).toContain('SHA256:47DEQpj8HBSa');
  expect(night.people[1]?.proof).toMatch(/^named in the .*config.*the person is not proven$/u);
});

test('what only people know is left open and never made up', () => {
  expect(night.blanks.length).toBeGreaterThan(6);
  expect(night.blanks.every(({ value }) => value === null)).toBe(true);
  expect(night.signOff.every(({ name, date }) => name === null && date === null)).toBe(true);
  expect(
    night.issues.every(({ rootCause, owner, due, status }) =>
      [rootCause, owner, due, status].every((one) => one === null),
    ),
  ).toBe(true);
});

test('the platform gives the location of the instance, and what no entry says is "not stated"', () => {
  const to = { guid: 'g-1', name: 'orders', org: 'acme', space: 'prod' };
  const entries = journalOf(
    started(),
    performed([1, 2], 'preflight', { service: { id: '7', name: 'orders-db' } }, 'binding'),
    performed([3, 4], 'bindApp', { outcome: 'done' }, 'done', { to }),
  );
  const { changed } = buildReport(entries, options);
  expect(changed).toContainEqual({ label: 'Org and space', value: 'acme / prod' });
  expect(changed).toContainEqual({ label: 'API revision', value: 'not stated' });
});

test('the location of the instance and the revision of the interface are those at the beginning of the run', () => {
  const url = 'https://dashboard.example.com/service-instances/4a1f';
  const services = [
    { instance: 'orders', url, revision: '61' },
    { instance: 'billing', url: 'https://elsewhere.example.com', revision: 'v0' },
  ];
  const first = started();
  const { entry } = first;
  const elsewhere = { ...first, entry: { ...entry, body: { ...(entry.body as object), services } } };
  const look = performed([1, 2], 'preflight', { service: { id: '7', name: 'orders-db' } }, 'binding');
  const { changed } = buildReport(journalOf(elsewhere, look), options);
  expect(changed).toContainEqual({ label: 'Address', value: url });
  expect(changed).toContainEqual({ label: 'API revision', value: '61' });
});

test('problems, lost answers and overdue tasks are issues; an answer that only lacked an id is not', () => {
  expect(night.issues.map(({ what }) => what)).toEqual([
    'restore the backup: the answer was lost: no answer within 30 s',
    'restore the backup: what the service shows: it happened',
    'paused for new credentials: the token was refused',
    'wait for the restore: overdue, 1 h, expected 30 min',
  ]);
  const noId = { code: 'service.no-id', shortMessage: 'no id', hints: [], evidence: {} };
  const call = { intent: 'i', verb: 'restoreToTime' };
  const quiet = journalOf(
    started(),
    { at: 1, entry: runEntry('01R', 'intent.outcome', { ...call, sent: 'unknown', failure: noId }) },
    { at: 2, entry: runEntry('01R', 'intent.judged', { ...call, verdict: 'landed' }) },
  );
  expect(buildReport(quiet, options).issues).toEqual([]);
});

test('the course has every step with its time and slice, the waits for people, and the moments', () => {
  const { course } = night;
  expect(course?.from).toBe(at(-1800));
  expect(course?.until).toBe(at(9 * 3600));
  expect(course?.limitAt).toBe(at(3.5 * 3600));
  expect(course?.slices.map(({ slice }) => slice)).toEqual(['decide', 'queue', 'execute']);
  expect(course?.steps.filter(({ waits }) => waits).map(({ state }) => state)).toEqual([
    'confirming',
    'openFollowUps',
  ]);
  expect(course?.tasks.map(({ kind, from }) => [kind, from])).toEqual([
    ['queue', at(5 * 3600)],
    ['execute', at(5.5 * 3600)],
  ]);
  expect(course?.marks[0]).toMatchObject({ kind: 'incident' });
  const kinds = new Set(course?.marks.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([
    'approval',
    'armed',
    'break-glass',
    'decision',
    'doubt',
    'incident',
    'resumed',
    'trouble',
  ]);
});

test('the slices of the picture add up to the slices of the figures', () => {
  const sums: Record<string, number> = { decide: 0, queue: 0, execute: 0, human: 0, rebind: 0 };
  for (const { slice, from, until } of day.course?.slices ?? [])
    sums[slice] = (sums[slice] ?? 0) + (Date.parse(until) - Date.parse(from)) / 1000;
  expect(sums).toEqual(day.measured?.slices);
});

test('the kept transcript and the last entry are the evidence; without a signed head there is no anchor', () => {
  expect(night.evidence.transcript).toEqual({ lines: 812, bytes: 90_000, sha256: 'ef'.repeat(32) });
  const head = longNight.at(-1)?.hash ?? '';
  expect(night.evidence.head).toBe(head);
  expect(night.evidence.anchor).toBeUndefined();
});

test('the proof of a clean-up is listed under its follow-up', () => {
  const removal = {
    ...{ id: 'remove-target', kind: 'remove-target', subject: 'orders-dr', what: 'remove orders-dr' },
    closed: { how: 'hand', text: 'removed', evidence: {} },
  };
  expect(buildReport(recovery, { ...options, followUps: [removal] }).cleanup).toEqual(['remove-target']);
});

test('an old key that still opens a new backup is not shown as refused', () => {
  const entries = journalOf(
    started(),
    performed([1, 2], 'negativeTest', { opened: ['a'], tested: ['a'] }, 'x'),
  );
  expect(buildReport(entries, options).checks).toMatchObject([
    { good: false, verdict: 'OPENED BY A KEY THAT MUST NOT' },
  ]);
});
