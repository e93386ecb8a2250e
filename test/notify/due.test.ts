import { describe, expect, onTestFinished, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { SCHEMAS } from '../../src/cli/schemas/index.ts';
import type { NotifyEvent } from '../../src/config/schema.ts';
import { closesWith, deliver, MAX_TRIES, type Wanting, wantedBy } from '../../src/notify/deliver.ts';
import { type Notice, notificationOf } from '../../src/notify/notice.ts';
import { send } from '../../src/notify/send.ts';
import type { Posted, Tries } from '../../src/store/projections/outbox.ts';
import { answer, startFaultServer } from '../service/fault-server.ts';

const AT = '2026-03-01T03:00:00.000Z';
const run = { runId: '01R', runbook: 'restore-backup', instance: 'orders', mode: 'LIVE' as const };
const FAILED: Notice = {
  ...{ id: 'drill-failed/1', event: 'drill-failed', index: undefined, since: AT },
  ...{ drill: '20260301-030000', scope: 'full' },
};
const ENDED: Notice = { id: 'ended/01R', event: 'ended', index: 50, since: AT, run, outcome: 'failed' };

const target = (name: string, index = 10, on?: readonly NotifyEvent[], at = AT): Wanting => ({
  name,
  on,
  known: { index, at },
});
const EARLIER = '2026-03-01T02:59:59.999Z';

function posted(tries: Record<string, readonly [Tries['outcome'], number]>): Posted {
  const all = Object.entries(tries).map(([name, [outcome, count]]) => [name, { outcome, count, at: AT }]);
  return { id: ENDED.id, index: 50, at: AT, tries: Object.fromEntries(all) };
}

describe('a target wants a notice', () => {
  test.each<[string, Notice, Wanting, Posted | undefined, boolean]>([
    ['of any event, where it names none', ENDED, target('a'), undefined, true],
    ['of the events that it names', ENDED, target('a', 10, ['rto', 'ended']), undefined, true],
    ['of no other', ENDED, target('a', 10, ['question']), undefined, false],
    ['not of what happened before it was configured', ENDED, target('a', 50), undefined, false],
    [
      'that a drill is due, however long it has been due',
      { id: 'drill-due/first', event: 'drill-due', index: undefined, since: EARLIER, stands: true },
      target('a', 99),
      undefined,
      true,
    ],
    [
      'that a drill failed after it was configured',
      FAILED,
      target('a', 99, undefined, EARLIER),
      undefined,
      true,
    ],
    ['not that a drill failed before that', FAILED, target('a', 99), undefined, false],
    ['that a drill has just failed', { ...FAILED, stands: true }, target('a', 99), undefined, true],
    ['that it was already tried with', FAILED, target('a', 99), posted({ a: ['failed', 1] }), true],
    ['only until it has received it', ENDED, target('a'), posted({ a: ['delivered', 1] }), false],
    ['even if another target has received it', ENDED, target('a'), posted({ b: ['delivered', 1] }), true],
  ])('%s', (_, notice, wanting, known, isWanted) => {
    expect(wantedBy(notice, [wanting], known)).toHaveLength(isWanted ? 1 : 0);
  });

  test('after a growing pause, and finally no longer by itself', () => {
    const pauses = Array.from({ length: MAX_TRIES }, (_, at) => {
      const [wanted] = wantedBy(ENDED, [target('a')], posted({ a: ['failed', at + 1] }));
      return ((wanted?.dueMs ?? 0) - Date.parse(AT)) / 1000;
    });
    expect(pauses).toEqual([2, 10, 60, 300, 900, 3600, 3600, 3600, Number.POSITIVE_INFINITY]);
  });
});

test.each([
  [30, 30],
  [1, 2],
  [7 * 24 * 3600, 24 * 3600],
])('a receiver that asks for a pause of %s s is tried again after %s s', (retryAfter, seconds) => {
  const known = { ...posted({}), tries: { a: { count: 1, at: AT, outcome: 'failed' as const, retryAfter } } };
  const [wanted] = wantedBy(ENDED, [target('a')], known);
  expect(((wanted?.dueMs ?? 0) - Date.parse(AT)) / 1000).toBe(seconds);
});

test.each([
  [429, { 'retry-after': '40' }, 40],
  [503, { 'retry-after': new Date(Date.now() + 90_000).toUTCString() }, expect.closeTo(90, -1)],
  [503, { 'retry-after': 'soon' }, undefined],
  [200, { 'retry-after': '40' }, undefined],
])('a webhook that answers %s with %o gets the pause that it asks for', async (status, headers, seconds) => {
  const server = await startFaultServer((_, socket) => socket.write(answer(status, 'later', headers)));
  onTestFinished(server.close);
  const hook = { name: 'hook', url: `${server.origin}/hook`, headers: {}, hideEnv: [] };
  const sent = await send(hook, '{}', AbortSignal.timeout(10_000));
  expect([sent.status, sent.retryAfter]).toEqual([status, seconds]);
});

describe('an attempt closes a notice', () => {
  const most = MAX_TRIES - 1;
  test.each<
    [string, Record<string, readonly [Tries['outcome'], number]>, Tries['outcome'], Posted['closes']]
  >([
    ['when no other target wants it', { b: ['delivered', 1] }, 'delivered', 'delivered'],
    ['not while another one wants it', { b: ['failed', 1] }, 'delivered', undefined],
    ['not while it may be tried again', { b: ['delivered', 1] }, 'failed', undefined],
    [
      'as given up, when this was the last attempt',
      { a: ['failed', most], b: ['delivered', 1] },
      'failed',
      'given-up',
    ],
    ['as given up, when those of the others were', { b: ['failed', MAX_TRIES] }, 'delivered', 'given-up'],
  ])('%s', (_, tries, outcome, closes) => {
    const wanted = wantedBy(ENDED, [target('a'), target('b')], posted(tries));
    expect(closesWith(wanted, { target: 'a', outcome })).toBe(closes);
  });
});

test('nothing is sent while another process holds the outbox', async () => {
  const held = async () => {
    throw new LifeboatError('journal.held', 'held');
  };
  const known = { group: 'target', sort: 'a', key: 'target/a', value: { name: 'a', index: 1, at: AT } };
  const journal = {
    rows: async (_: string, query: { readonly group?: string } = {}) =>
      query.group === 'target' ? [known] : [],
    clock: async () => () => new Date(AT),
    hold: held,
    append: held,
  };
  const targets = [{ name: 'a', command: 'exit 1', hideEnv: [] }];
  const outbox = { journal, targets, notices: async () => [ENDED] };
  expect(await deliver(outbox, new AbortController().signal)).toEqual([]);
});

describe('a notification fits its schema and says in one sentence', () => {
  const question: Notice = {
    id: 'question/01R/23',
    event: 'question',
    index: 22,
    since: AT,
    run,
    title: 'the last look',
  };
  const danger = { rtoSeconds: 1800, elapsedSeconds: 1500 };
  test.each<[string, Notice]>([
    ['restore-backup on orders waits for a person: the last look; lifeboat resume 01R', question],
    [
      'REHEARSAL: restore-backup on orders into spare was stopped after a failure; lifeboat report 01R',
      { ...ENDED, run: { ...run, mode: 'REHEARSAL', target: 'spare' } } as Notice,
    ],
    [
      'restore-backup on orders has taken 25 min of 30 min, its recovery time objective; lifeboat resume 01R',
      { id: 'rto/01R', event: 'rto', index: 0, since: AT, run, ...danger },
    ],
    [
      'a drill is due; lifeboat drill --auto',
      { id: 'drill-due/first', event: 'drill-due', index: undefined, since: AT },
    ],
    ['the drill 20260301-030000 (full) failed; lifeboat drill --auto', FAILED],
  ])('%s', (text, notice) => {
    const notification = { schema: 'lifeboat.notification/1', ...notificationOf(notice) };
    expect(SCHEMAS.notification.type.strict().parse(notification)).toEqual(notification);
    expect(notification.text).toBe(text);
  });
});
