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
  return { ledger, openRuns: [], inDoubt: [], followUps: [], ...more };
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
    window: known('none' as const),
    record: known(record()),
    held: known([OLD, NEW]),
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
  test('could be recovered where its newest backup keeps the RPO and its key is held and proven', () => {
    const found = instanceStatus(facts(), NOW);
    expect(found).toMatchObject({
      recoverable: { answer: 'yes', reasons: [] },
      newestBackup: { id: 9, ageSeconds: 7200, meetsRpo: true },
      provenBackup: { id: 7, ageSeconds: 41 * 3600, meetsRpo: false, key: NEW, isListed: true },
      key: { possible: [{ fingerprint: NEW, isHeld: true }], isProven: true },
      card: { ageSeconds: 40 * 3600, key: NEW },
      cautions: [],
    });
  });

  test('of which nothing was asked is unknown, never good', () => {
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
    [
      'whose newest backup is older than its RPO',
      { objectives: { rpo: HOUR } },
      'inPlace',
      ['no', 'backup.too-old'],
    ],
    [
      'whose newest backup is older than its RPO, elsewhere too',
      { objectives: { rpo: HOUR } },
      'elsewhere',
      ['no', 'backup.too-old'],
    ],
    [
      'whose newest backup has no time',
      { backups: known({ done: DONE.map((one) => ({ ...one, triggeredAt: undefined })) }) },
      'inPlace',
      ['unknown', 'backup.age', 'key.unproven'],
    ],
    ['that is deleted', { overview: known({ state: 'deleted' }) }, 'inPlace', ['no', 'instance.state']],
    ['that is failed', { overview: known({ state: 'failed' }) }, 'inPlace', ['unknown', 'instance.state']],
    ['whose key is not held', { held: known([OLD]) }, 'elsewhere', ['no', 'key.not-held']],
    ['whose key is not held, in place', { held: known([OLD]) }, 'inPlace', ['yes']],
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
      'whose proven backup is gone',
      { backups: known({ done: DONE.slice(0, 1) }) },
      'inPlace',
      ['unknown', 'backup.proof-gone'],
    ],
    [
      'of which no backup was ever proven',
      { record: known(record({}, ROTATED.slice(0, 2))) },
      'inPlace',
      ['unknown', 'backup.unproven'],
    ],
    [
      'whose newest backup has a key that was never proven',
      {
        record: known(
          record({}, [
            ...ROTATED,
            { type: 'key.set', at: ago(5), body: { fingerprint: OLD, run: 'S', answer: 'accepted' } },
          ]),
        ),
      },
      'elsewhere',
      ['unknown', 'key.unproven'],
    ],
    [
      'whose newest backup cannot be downloaded',
      { backups: known({ done: DONE.map((one) => ({ ...one, downloadable: one.id === 7 })) }) },
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
  ])('%s is judged so', ([, given, where, answer]) => {
    expect(codesOf(given)[where]).toEqual(answer);
  });

  test('that is lost is still recoverable elsewhere as far as the record goes, but for the age of its backup', () => {
    const lost = { overview: failed, backups: failed, window: failed };
    expect(codesOf(lost).elsewhere).toEqual(['unknown', 'service.timeout']);
    expect(codesOf({ ...lost, held: known([]) }).elsewhere).toEqual([
      'no',
      'key.not-held',
      'service.timeout',
    ]);
  });

  describe('without a recovery card', () => {
    const cardless = known(record({}, ROTATED.slice(0, 3)));
    const lost = { overview: failed, backups: failed, window: failed, record: cardless };
    const SEEN = { at: ago(1), backups: DONE.map((one) => ({ ...one, status: 'done' })) };
    const reasonOf = (given: Partial<InstanceFacts>) =>
      instanceStatus(facts(given), NOW).elsewhere.reasons.find(({ code }) => code === 'card.none');

    test('could be recovered elsewhere by the id of a proven backup, which is said and is no yes', () => {
      const text = `there is no recovery card; backup 7 could be recovered by its id guid-7 with key ${NEW}, which has opened it`;
      expect(reasonOf({ record: cardless })).toMatchObject({ answer: 'unknown', text });
      expect(codesOf({ record: cardless }).elsewhere).toEqual(['unknown', 'card.none']);
      expect(reasonOf(lost)).toMatchObject({
        answer: 'unknown',
        text: `${text}, if the service still keeps it`,
      });
      expect(codesOf(lost).elsewhere).toEqual(['unknown', 'card.none', 'service.timeout']);
    });

    test('might be recovered by the id of a backup that was listed, and was never opened', () => {
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

    test('whose id is hostile is told of in one printable line', () => {
      const done = [{ id: 9, backupId: '\u001b[31mid\n9', triggeredAt: ago(2) }];
      const unproven = known(record({}, ROTATED.slice(0, 2)));
      expect(reasonOf({ backups: known({ done }), record: unproven })?.text).not.toMatch(/[\u0000-\u001f]/u);
    });
  });

  describe('whose list is not known', () => {
    const lost = { overview: failed, backups: failed, window: failed };

    test('has the newest backup that was listed before, with when that was, and is judged as unknown', () => {
      const seen = { at: ago(1), backups: DONE.map((one) => ({ ...one, status: 'done' })) };
      const found = instanceStatus(facts({ ...lost, seen }), NOW);
      expect(found.newestBackup).toBeUndefined();
      expect(found.lastSeenBackup).toEqual({
        ...{ id: 9, backupId: 'guid-9', triggeredAt: ago(2), size: 900, downloadable: true },
        ...{ ageSeconds: 7200, seenAt: ago(1), seenAgeSeconds: 3600 },
      });
      expect(found.recoverable.answer).toBe('unknown');
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

    test('has none where nothing of it was ever seen, or its list is known', () => {
      const blank = { ...lost, record: known(record({}, [])) };
      expect(instanceStatus(facts(blank), NOW).lastSeenBackup).toBeUndefined();
      expect(instanceStatus(facts(), NOW).lastSeenBackup).toBeUndefined();
    });
  });

  test('keeps its RPO in place by a point in time, and says that elsewhere it would not', () => {
    const window = known({ start: ago(30), end: ago(0.1) });
    const given = { objectives: { rpo: HOUR }, window };
    expect(codesOf(given).inPlace).toEqual(['yes']);
    expect(codesOf(given).elsewhere).toEqual(['no', 'backup.too-old']);
    expect(instanceStatus(facts(given), NOW).cautions[0]).toContain(
      'only a point-in-time restore keeps the RPO',
    );
  });

  test('is measured by the clock of the service where that goes wrong', () => {
    const skewMs = -3 * HOUR;
    const done = DONE.map((one) => ({
      ...one,
      triggeredAt: new Date(Date.parse(one.triggeredAt) + skewMs).toISOString(),
    }));
    const found = instanceStatus(facts({ backups: known({ done, skewMs }) }), NOW);
    expect(found.newestBackup?.ageSeconds).toBe(7200);
    expect(found.recoverable.answer).toBe('yes');
  });

  test('a backup near the change of the key may have either', () => {
    const near = known({ done: [{ id: 5, triggeredAt: ago(50) }, ...DONE.slice(1)] });
    const found = instanceStatus(facts({ backups: near, held: known([NEW]) }), NOW);
    expect(found.key.possible.map(({ fingerprint }) => fingerprint).toSorted()).toEqual([OLD, NEW]);
    expect(found.elsewhere.reasons.map(({ code, answer }) => [answer, code])).toContainEqual([
      'unknown',
      'key.not-held',
    ]);
  });

  test('a first block that fits is no proof', () => {
    const fits = ROTATED.map((entry) =>
      entry.type === 'key.proven' ? { ...entry, body: { ...entry.body, verdict: 'fits' } } : entry,
    );
    expect(codesOf({ record: known(record({}, fits)) }).inPlace).toEqual(['unknown', 'backup.unproven']);
  });

  test('a target that answers and that no run has touched has nothing to recover; any other is judged', () => {
    const target = { role: 'target', held: { state: 'unasked' } } as const;
    expect(codesOf({ ...target, record: known(record({}, [])) }).recoverable).toBe('empty');
    expect(codesOf({ ...target, record: known(record({}, [])), backups: failed }).recoverable).toBe('no');
    expect(codesOf({ ...target, record: known(record()) }).recoverable).toBe('unknown');
    expect(codesOf({ ...target, record: failed }).recoverable).toBe('unknown');
  });

  test('follow-ups are counted, the overdue ones apart', () => {
    const followUp: FollowUp = { id: 'a', kind: 'rebind', subject: 's', what: 'w', commands: [] };
    const followUps = [
      { ...followUp, since: ago(2), dueSeconds: 3600 },
      { ...followUp, since: ago(2), dueSeconds: 36_000 },
      { ...followUp, closed: { how: 'hand' as const, text: '', evidence: {} } },
    ];
    const found = instanceStatus(facts({ record: known(record({ followUps })) }), NOW);
    expect(found.followUps).toEqual({ open: 2, overdue: 1 });
    expect(found.cautions).toEqual(['follow-ups are overdue: 1']);
    expect(found.recoverable.answer).toBe('yes');
  });
});
