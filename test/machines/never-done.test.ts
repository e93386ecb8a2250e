import { expect, test } from 'vitest';
import { expectedOrigin } from '../../machines/phases/expected-origin.ts';
import { neverDone } from '../../machines/phases/once.ts';

const CONFLICT = {
  code: 'service.conflict',
  shortMessage: 'the same action is already in progress (409): "busy"',
  hints: [],
  evidence: {},
};

test('a refused restore is described in the words of the service, with the restore that stood in the way', () => {
  const evidence = { underWay: [104] };
  expect(
    neverDone({ absences: 1, send: { is: 'absent', lost: CONFLICT, evidence } }, 'a restore'),
  ).toMatchObject({
    shortMessage:
      'the service refused it: the same action is already in progress (409): "busy"; under way: restore 104',
    evidence: { answer: CONFLICT.shortMessage, list: { underWay: [104] } },
  });
});

test('a request that never arrived is described with the answer that came back', () => {
  const lost = { ...CONFLICT, code: 'service.error', shortMessage: 'the router gave up (504)' };
  const failure = neverDone({ absences: 2, send: { is: 'absent', lost } }, 'a backup');
  expect(failure.shortMessage).toBe('the request for a backup was sent 2 times and never arrived');
  expect(failure.hints).toContain('what came back: the router gave up (504)');
  expect(neverDone({ absences: 1, send: { is: 'absent' } }, 'a backup').shortMessage).toBe(
    'the request for a backup never arrived',
  );
});

test('the backups to recover are known for the guid of the card and for backups on record, and for no other guid', () => {
  const newest = { id: 3, status: 'done', backupId: 'g-3', triggeredAt: '2026-02-28T01:30:00Z' };
  const card = { backupGuid: 'g', preparedAt: '2026-02-28T02:00:00Z', crossCheck: 'agrees' as const, newest };
  const old = { triggeredAt: '2026-01-01T00:00:00Z', provenAt: '2026-01-01T01:00:00Z' };
  const proven = [{ id: 1, backupId: 'g-1', fingerprint: 'cccccccccccc', ...old }];
  const origin = (guid: string) => expectedOrigin(guid, { card, proven });
  expect(origin('g')).toEqual({ triggeredAt: newest.triggeredAt, orNewer: true });
  expect(origin('g-3')).toEqual({ triggeredAt: newest.triggeredAt });
  expect(origin('g-1')).toEqual({ triggeredAt: old.triggeredAt });
  expect(origin('other')).toBeUndefined();
  expect(expectedOrigin('g', undefined)).toBeUndefined();
});
