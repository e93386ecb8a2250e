import { describe, expect, test } from 'vitest';
import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import { foldLedger } from '../../../src/store/projections/ledgers.ts';
import {
  type InstanceFacts,
  type InstanceRecord,
  nothingAsked,
  type Part,
} from '../../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../../src/view/fleet/instance-status.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const [OLD, NEW] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
const HOUR = 3_600_000;

const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR).toISOString();
const known = <Value>(value: Value): Part<Value> => ({ state: 'known', at: NOW, value });
const failed: Part<never> = { state: 'failed', at: NOW, code: 'service.timeout', why: 'no answer' };

/** A ledger in which NEW was set, and backup 7 was proven with it. */
const ROTATED = [
  { type: 'key.added', at: ago(900), body: { fingerprint: OLD } },
  { type: 'key.set', at: ago(50), body: { fingerprint: NEW, run: 'R', answer: 'accepted' } },
  {
    type: 'key.proven',
    at: ago(40),
    body: {
      ...{ fingerprint: NEW, run: 'R', verdict: 'readable', cipherSha256: '0', negative: 'refused' },
      backup: { id: 7, backup_id: 'guid-7', triggered_at: ago(41) },
    },
  },
  {
    type: 'card.prepared',
    at: ago(40),
    body: { card: { backupGuid: 'guid', fingerprint: NEW, preparedAt: ago(40), crossCheck: 'agrees' } },
  },
];

function record(more: Partial<InstanceRecord> = {}, entries: readonly object[] = ROTATED): InstanceRecord {
  const ledger = foldLedger(entries.map((entry, at) => ({ seq: at + 1, ...entry }) as never));
  return { ledger, openRuns: [], inDoubt: [], followUps: [], store: {}, ...more };
}

const PROVEN_WITHOUT_ID = {
  ...ROTATED[2],
  body: { ...ROTATED[2]?.body, backup: { id: 7, triggered_at: ago(41) } },
};

const DONE = [
  { id: 9, backupId: 'guid-9', triggeredAt: ago(2), size: 900, downloadable: true },
  { id: 7, backupId: 'guid-7', triggeredAt: ago(41), size: 700, downloadable: true },
];

const ABOUT = { name: 'orders', role: 'source', objectives: { rpo: 4 * HOUR } } as const;

/** An instance of which everything is well, but for what is given. */
function facts(given: Partial<InstanceFacts> = {}): InstanceFacts {
  return {
    ...ABOUT,
    overview: known({ state: 'available' }),
    backups: known({ done: DONE, skewMs: 0 }),
    token: known({ kind: 'renewed' as const }),
    right: { state: 'missing' },
    window: known('none' as const),
    record: known(record()),
    held: known([OLD, NEW]),
    fits: known([{ id: 9, key: NEW, tried: 2 }]),
    ...given,
  };
}

const codesOf = (given: Partial<InstanceFacts>) => {
  const { inPlace, elsewhere, recoverable } = instanceStatus(facts(given), NOW);
  const codes = ({ reasons }: typeof inPlace) => reasons.map(({ code }) => code);
  return {
    inPlace: [inPlace.answer, ...codes(inPlace)],
    elsewhere: [elsewhere.answer, ...codes(elsewhere)],
    recoverable: recoverable.answer,
  };
};

describe('an instance', () => {
  test('is recoverable where a held key fits its newest backup, which keeps the RPO', () => {
    const found = instanceStatus(facts(), NOW);
    expect(found).toMatchObject({
      recoverable: { answer: 'yes', reasons: [] },
      objectives: { answer: 'yes', reasons: [] },
      inService: { answer: 'yes', reasons: [] },
      opener: { id: 9, how: 'fits', key: NEW, ageSeconds: 7200, meetsRpo: true },
      newestBackup: { id: 9, ageSeconds: 7200, meetsRpo: true },
      provenBackup: { id: 7, ageSeconds: 41 * 3600, meetsRpo: false, key: NEW, isListed: true },
      key: { possible: [{ fingerprint: NEW, isHeld: true }], isProven: true },
      card: { ageSeconds: 40 * 3600, key: NEW },
      cautions: ['backup 9 was never read to its end: only its first block shows that the key fits'],
    });
  });

  test('that was not asked is unknown, never good', () => {
    const { recoverable, inPlace, elsewhere } = instanceStatus(nothingAsked(ABOUT), NOW);
    expect([recoverable.answer, inPlace.answer, elsewhere.answer]).toEqual(['unknown', 'unknown', 'unknown']);
  });

  test.for<[what: string, part: Partial<InstanceFacts>]>([
    ['state of the instance', { overview: failed }],
    ['list of backups', { backups: failed }],
    ['journal', { record: failed }],
    ['key store', { held: failed }],
    ['key store that was not asked', { held: { state: 'unasked' } }],
    ['list of backups that was not asked', { backups: { state: 'unasked' } }],
  ])('whose %s is not known is unknown', ([, part]) => {
    expect(codesOf(part).recoverable).toBe('unknown');
  });

  test('whose answers are too old is unknown, and says how old they are', () => {
    const later = new Date(NOW.getTime() + 2 * HOUR);
    const found = instanceStatus(facts(), later);
    expect(found.recoverable.answer).toBe('unknown');
    expect(found.recoverable.reasons[0]?.text).toContain('the last answer is 2 h old');
    expect(found.newestBackup).toBeUndefined();
  });

  test.for<[what: string, given: Partial<InstanceFacts>, where: 'inPlace' | 'elsewhere', answer: string[]]>([
    ['without a done backup', { backups: known({ done: [] }) }, 'inPlace', ['no', 'backup.none']],
    ['whose newest backup is only older than its RPO', { objectives: { rpo: HOUR } }, 'elsewhere', ['yes']],
    [
      'whose newest backup has no time',
      { backups: known({ done: DONE.map((one) => ({ ...one, triggeredAt: undefined })) }) },
      'inPlace',
      ['yes'],
    ],
    [
      'of which no held key opens the newest backup',
      { fits: known([{ id: 9, tried: 2 }]) },
      'elsewhere',
      ['unknown', 'backup.wrong-key'],
    ],
    [
      'of which no held key opens any backup',
      {
        backups: known({ done: DONE.slice(0, 1) }),
        fits: known([{ id: 9, tried: 2 }]),
      },
      'elsewhere',
      ['no', 'backup.wrong-key'],
    ],
    [
      'of which no held key opens any backup, though the service may have the key',
      {
        backups: known({ done: DONE.slice(0, 1) }),
        fits: known([{ id: 9, tried: 2 }]),
      },
      'inPlace',
      ['unknown', 'backup.wrong-key'],
    ],
    ['that is deleted', { overview: known({ state: 'deleted' }) }, 'inPlace', ['no', 'instance.state']],
    ['that is failed', { overview: known({ state: 'failed' }) }, 'inPlace', ['unknown', 'instance.state']],
    ['whose key is not held', { held: known([OLD]), fits: undefined }, 'elsewhere', ['no', 'key.not-held']],
    [
      'whose key is not held, in place',
      { held: known([OLD]), fits: undefined },
      'inPlace',
      ['unknown', 'key.not-held'],
    ],
    [
      'without a recovery card whose backups have no id that other instances know',
      {
        record: known(record({}, [...ROTATED.slice(0, 2), PROVEN_WITHOUT_ID])),
        backups: known({ done: DONE.map((one) => ({ ...one, backupId: undefined })) }),
      },
      'elsewhere',
      ['no', 'card.none'],
    ],
    [
      'of which no backup was ever opened, and none could be tried',
      { record: known(record({}, ROTATED.slice(0, 2))), fits: failed },
      'inPlace',
      ['unknown', 'backup.unproven'],
    ],
    [
      'whose newest backup was never opened, and an older one was',
      { fits: undefined },
      'inPlace',
      ['unknown', 'backup.unproven'],
    ],
    [
      'whose newest backup cannot be downloaded',
      {
        backups: known({ done: DONE.map((one) => ({ ...one, downloadable: one.id === 7 })) }),
        fits: undefined,
      },
      'elsewhere',
      ['unknown', 'backup.not-downloadable'],
    ],
    [
      'with a call in doubt',
      {
        record: known(
          record({ inDoubt: [{ intent: 'i', verb: 'restoreBackup', armedAt: ago(1), input: {} }] }),
        ),
      },
      'inPlace',
      ['unknown', 'call.in-doubt'],
    ],
  ])('%s gets its verdict', ([, given, where, answer]) => {
    expect(codesOf(given)[where]).toEqual(answer);
  });

  describe('that does not answer', () => {
    const lost = { overview: failed, backups: failed, window: failed, fits: undefined };
    const SEEN = { at: ago(0.1), backups: DONE.slice(1).map((one) => ({ ...one, status: 'done' })) };

    test('is down since it was last seen, and out of service', () => {
      const found = instanceStatus(facts({ ...lost, seen: SEEN }), NOW);
      expect(found.down).toEqual({ why: 'no answer', seenAt: SEEN.at });
      expect(found.inService).toMatchObject({ answer: 'no', reasons: [{ code: 'instance.down' }] });
    });

    test('could be recovered elsewhere from the backup that was seen last, where that was proven', () => {
      const found = instanceStatus(facts({ ...lost, seen: SEEN }), NOW);
      expect(found.recoverable).toEqual({ answer: 'yes', reasons: [] });
      expect(found.opener).toMatchObject({ id: 7, how: 'proven', key: NEW });
      expect(found.objectives?.answer).toBe('no');
    });

    test('is not recoverable where the key is not held, and unknown where nothing was seen', () => {
      expect(codesOf({ ...lost, seen: SEEN, held: known([]) }).recoverable).toBe('no');
      expect(codesOf(lost).elsewhere).toEqual(['unknown', 'service.timeout']);
    });

    test('but one that refuses the token is not down', () => {
      const refused = { ...failed, code: 'credentials.refused' } as const;
      const found = instanceStatus(facts({ ...lost, overview: refused, backups: refused }), NOW);
      expect(found.down).toBeUndefined();
      expect(found.inService.answer).toBe('unknown');
    });
  });

  describe('whose newest backup could not be opened when it was tried', () => {
    const unopened = (code: string, tried: readonly string[]) =>
      known(
        record({}, [
          ...ROTATED,
          { type: 'backup.unopened', at: ago(1), body: { run: 'T', backup: { id: 9 }, code, tried } },
        ]),
      );

    test('is not recoverable by it from then on, whatever is on record about its key', () => {
      const found = instanceStatus(
        facts({ record: unopened('backup.wrong-key', [OLD, NEW]), fits: undefined }),
        NOW,
      );
      const text = 'no key held here opens backup 9: 2 keys tried (tried 2026-03-10 11:00:00 UTC)';
      expect(found.evaluation).toMatchObject({ verdict: 'not-ready', reason: text });
      expect(found.recoverable).toEqual({
        answer: 'no',
        reasons: [{ answer: 'no', code: 'backup.wrong-key', text }],
      });
      expect(found.inPlace.reasons).toMatchObject([{ text: `${text}; backup 7, 41 h old, opens` }]);
      expect(found.objectives).toMatchObject({ answer: 'no', reasons: [{ code: 'backup.too-old' }] });
    });

    test('uses the result of its first block again once another key is held', () => {
      expect(codesOf({ record: unopened('backup.wrong-key', [OLD]) }).recoverable).toBe('yes');
    });

    test('stays not recoverable where the key opened it and it contained nothing', () => {
      expect(codesOf({ record: unopened('backup.empty', [NEW]) }).recoverable).toBe('no');
    });

    test('uses it again once it was proven', () => {
      const again = { ...ROTATED[2], at: ago(0.5), body: { ...ROTATED[2]?.body, backup: { id: 9 } } };
      const entries = [
        ...ROTATED,
        { type: 'backup.unopened', at: ago(1), body: { run: 'T', backup: { id: 9 }, code: 'x', tried: [] } },
        again,
      ];
      expect(instanceStatus(facts({ record: known(record({}, entries)) }), NOW).opener).toMatchObject({
        id: 9,
        how: 'proven',
      });
    });
  });

  describe('whose backups are dated in the future', () => {
    const done = DONE.map((one) => ({ ...one, triggeredAt: ago(-5) }));

    test('meets no objective with them, and the finding is reported', () => {
      const found = instanceStatus(facts({ backups: known({ done, skewMs: 0 }) }), NOW);
      const text = 'backup 9 is dated 5 h in the future: the clock or the time zone of the service is wrong';
      expect(found.newestBackup).toMatchObject({ ageSeconds: undefined, aheadSeconds: 18_000 });
      expect(found.newestBackup?.meetsRpo).toBeUndefined();
      expect(found.objectives).toEqual({
        answer: 'unknown',
        reasons: [{ answer: 'unknown', code: 'backup.future', text }],
      });
      expect(found.cautions).toContain(text);
    });

    test('but meets it where the whole clock of the service is ahead', () => {
      const found = instanceStatus(facts({ backups: known({ done, skewMs: 6 * HOUR }) }), NOW);
      expect(found.newestBackup).toMatchObject({ ageSeconds: 3600, meetsRpo: true });
    });
  });

  test('with applications that wait to be bound again is recoverable, but not in service', () => {
    const waiting = (name: string): FollowUp => ({
      ...{ id: name, kind: 'rebind', subject: name, what: 'w', commands: [], since: ago(2), dueSeconds: 60 },
    });
    const followUps = ['a', 'b', 'c', 'd', 'e'].map(waiting);
    const found = instanceStatus(facts({ record: known(record({ followUps })) }), NOW);
    expect(found.recoverable.answer).toBe('yes');
    expect(found.inService).toEqual({
      answer: 'no',
      reasons: [
        {
          answer: 'no',
          code: 'follow-ups.locked-out',
          text: '5 applications or keys wait to be bound again: a, b, c and 2 more',
        },
      ],
    });
  });

  describe('without a recovery card', () => {
    const cardless = known(record({}, ROTATED.slice(0, 3)));
    const lost = { overview: failed, backups: failed, window: failed, record: cardless };
    const SEEN = { at: ago(1), backups: DONE.map((one) => ({ ...one, status: 'done' })) };
    const reasonOf = (given: Partial<InstanceFacts>) =>
      instanceStatus(facts(given), NOW).elsewhere.reasons.find(({ code }) => code === 'card.none');

    test('could be recovered elsewhere by the id of a proven backup, which is reported but does not count as yes', () => {
      const text = `there is no recovery card; backup 7 could be recovered by its id guid-7 with key ${NEW}, which has opened it`;
      expect(reasonOf({ record: cardless })).toMatchObject({ answer: 'unknown', text });
      expect(codesOf({ record: cardless }).elsewhere).toEqual(['unknown', 'card.none']);
      expect(reasonOf(lost)).toMatchObject({
        answer: 'unknown',
        text: `${text}, if the service still keeps it`,
      });
      expect(codesOf(lost).elsewhere).toEqual(['unknown', 'card.none', 'service.timeout']);
    });

    test('might be recovered by the id of a backup that was listed but never opened', () => {
      const text =
        'there is no recovery card; backup 9 might be recovered by its id guid-9, but it was never opened';
      const said = { answer: 'unknown', text };
      const unproven = known(record({}, ROTATED.slice(0, 2)));
      expect(reasonOf({ record: unproven })).toMatchObject(said);
      expect(reasonOf({ ...lost, record: unproven, seen: SEEN })).toMatchObject(said);
      const gone = { record: cardless, backups: known({ done: DONE.slice(0, 1) }) };
      expect(reasonOf(gone)).toMatchObject(said);
    });

    test('could not be recovered elsewhere where no key, or no id of a backup, is kept here', () => {
      const no = {
        answer: 'no',
        text: 'there is no recovery card, so a lost instance could not be recovered elsewhere',
      };
      expect(reasonOf({ ...lost, held: known([]), seen: SEEN })).toMatchObject(no);
      expect(reasonOf({ ...lost, record: known(record({}, ROTATED.slice(0, 2))) })).toMatchObject(no);
      expect(reasonOf({ ...lost, record: known(record({}, [])), seen: SEEN })).toMatchObject(no);
    });

    test('whose id is hostile is described in one printable line', () => {
      const done = [{ id: 9, backupId: '\u001b[31mid\n9', triggeredAt: ago(2) }];
      const unproven = known(record({}, ROTATED.slice(0, 2)));
      expect(reasonOf({ backups: known({ done }), record: unproven })?.text).not.toMatch(/[\u0000-\u001f]/u);
    });
  });

  describe('whose list is not known', () => {
    const lost = { overview: failed, backups: failed, window: failed };

    test('has the newest backup that was listed before, with the time of that list', () => {
      const seen = { at: ago(1), backups: DONE.map((one) => ({ ...one, status: 'done' })) };
      const found = instanceStatus(facts({ ...lost, seen }), NOW);
      expect(found.newestBackup).toBeUndefined();
      expect(found.lastSeenBackup).toEqual({
        ...{ id: 9, backupId: 'guid-9', triggeredAt: ago(2), size: 900, downloadable: true },
        ...{ ageSeconds: 7200, seenAt: ago(1), seenAgeSeconds: 3600 },
      });
    });

    test('has the newest backup that the journal knows, proven or on the recovery card', () => {
      expect(instanceStatus(facts(lost), NOW).lastSeenBackup).toMatchObject({ id: 7, seenAt: ago(40) });
      const newest = { id: 8, status: 'done', startedAt: ago(39) };
      const card = { backupGuid: 'guid', preparedAt: ago(38), crossCheck: 'agrees', newest };
      const entries = [...ROTATED, { type: 'card.prepared', at: ago(38), body: { card } }];
      expect(
        instanceStatus(facts({ ...lost, record: known(record({}, entries)) }), NOW).lastSeenBackup,
      ).toMatchObject({ id: 8, ageSeconds: 39 * 3600, seenAt: ago(38) });
      const older = { at: ago(60), backups: [{ id: 3, status: 'done', triggeredAt: ago(61) }] };
      expect(instanceStatus(facts({ ...lost, seen: older }), NOW).lastSeenBackup).toMatchObject({ id: 7 });
    });

    test('has none where no backup was ever seen, or where its list is known', () => {
      const blank = { ...lost, record: known(record({}, [])) };
      expect(instanceStatus(facts(blank), NOW).lastSeenBackup).toBeUndefined();
      expect(instanceStatus(facts(), NOW).lastSeenBackup).toBeUndefined();
    });
  });

  test('keeps its RPO in place through a point in time, and says that it would not elsewhere', () => {
    const window = known({ start: ago(30), end: ago(0.1) });
    const given = { objectives: { rpo: HOUR }, window };
    expect(codesOf(given).inPlace).toEqual(['yes']);
    expect(codesOf(given).elsewhere).toEqual(['yes']);
    expect(instanceStatus(facts(given), NOW).objectives).toMatchObject({
      answer: 'no',
      reasons: [{ text: expect.stringContaining('only a point-in-time restore keeps it') }],
    });
  });

  test('is measured by the clock of the service where that clock is wrong', () => {
    const skewMs = -3 * HOUR;
    const done = DONE.map((one) => ({
      ...one,
      triggeredAt: new Date(Date.parse(one.triggeredAt) + skewMs).toISOString(),
    }));
    const found = instanceStatus(facts({ backups: known({ done, skewMs }) }), NOW);
    expect(found.newestBackup?.ageSeconds).toBe(7200);
    expect(found.recoverable.answer).toBe('yes');
  });

  test('a backup from near a key change may have either key', () => {
    const near = known({ done: [{ id: 5, triggeredAt: ago(50) }, ...DONE.slice(1)] });
    const found = instanceStatus(facts({ backups: near, held: known([NEW]) }), NOW);
    expect(found.key.possible.map(({ fingerprint }) => fingerprint).toSorted()).toEqual([OLD, NEW]);
  });

  test('an older backup that opens does not hide that no held key opens the newest one', () => {
    const [nine] = DONE;
    const newer = { ...nine, id: 10, backupId: 'g-10', triggeredAt: NOW.toISOString() };
    const found = instanceStatus(
      facts({
        backups: known({ done: [newer, ...DONE], skewMs: 0 }),
        fits: known([
          { id: 10, tried: 2 },
          { id: 9, key: NEW, tried: 2 },
        ]),
      }),
      NOW,
    );
    expect(found.opener).toMatchObject({ id: 9 });
    expect(found.cautions).toContain(
      'no key held here opens backup 10: 2 keys tried: another key may be in force',
    );
  });

  test('a first block that fits is no proof', () => {
    const fits = ROTATED.map((entry) =>
      entry.type === 'key.proven' ? { ...entry, body: { ...entry.body, verdict: 'fits' } } : entry,
    );
    const found = instanceStatus(facts({ record: known(record({}, fits)) }), NOW);
    expect(found.provenBackup).toBeUndefined();
    expect(found.opener).toMatchObject({ id: 9, how: 'fits' });
  });

  test('a target that answers and that no run has touched has nothing to recover; any other is evaluated', () => {
    const target = { role: 'target', held: { state: 'unasked' } } as const;
    expect(codesOf({ ...target, record: known(record({}, [])) }).recoverable).toBe('empty');
    expect(codesOf({ ...target, record: known(record({}, [])), backups: failed }).recoverable).toBe(
      'unknown',
    );
    expect(codesOf({ ...target, record: known(record()) }).recoverable).toBe('unknown');
    expect(codesOf({ ...target, record: failed }).recoverable).toBe('unknown');
  });

  test('follow-ups are counted, and overdue ones separately', () => {
    const followUp: FollowUp = { id: 'a', kind: 'rebind', subject: 's', what: 'w', commands: [] };
    const followUps = [
      { ...followUp, since: ago(2), dueSeconds: 3600 },
      { ...followUp, since: ago(2), dueSeconds: 36_000 },
      { ...followUp, closed: { how: 'hand' as const, text: '', evidence: {} } },
    ];
    const found = instanceStatus(facts({ record: known(record({ followUps })) }), NOW);
    expect(found.followUps).toEqual({ open: 2, overdue: 1 });
    expect(found.cautions).toContain('follow-ups are overdue: 1');
    expect(found.recoverable.answer).toBe('yes');
  });
});
