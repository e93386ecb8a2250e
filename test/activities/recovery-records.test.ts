import { describe, expect, test } from 'vitest';
import type { RecoveryCard } from '../../machines/parts/recovery-data.ts';
import type { RotationRecord } from '../../machines/parts/task-data.ts';
import type { ActivityResult, LedgerFact } from '../../src/activities/activity.ts';
import {
  readCard,
  recordCard,
  recordProof,
  recordRecovery,
  recordRotation,
} from '../../src/activities/records.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { afterOf } from '../../src/store/projections/follow-ups.ts';
import { readKeyFact } from '../../src/store/projections/key-epochs.ts';
import { type FakeService, fakeService, STORED_KEY } from './fake-service.ts';
import { contextOf } from './world.ts';

const NOW = '2026-03-01T03:00:00.000Z';
const OLD = 'aaaaaaaaaaaa';
const NEW = 'bbbbbbbbbbbb';
const context = contextOf(() => new Date(NOW));
const VERIFICATION = {
  opens: NEW,
  verdict: 'readable',
  profile: 'md5',
  content: 'tar',
  cipherBytes: 5,
  cipherSha256: 'c1',
  contentBytes: 9,
  contentSha256: 'd2',
  seconds: 1,
} as const;
const BACKUP = { id: 7, backupId: 'G-1', status: 'done', triggeredAt: '2026-03-01T02:00:00Z' };
const CARD: RecoveryCard = {
  backupGuid: 'G',
  fingerprint: NEW,
  preparedAt: NOW,
  crossCheck: 'agrees',
  newest: BACKUP,
};

describe('the recovery card', () => {
  test('that was recorded is found again, without a call to the service', async () => {
    const service = fakeService();
    await record(service, recordCard(service.deps).run({ card: { ...CARD, backupGuid: 'old' } }, context));
    await record(service, recordCard(service.deps).run({ card: CARD }, context));
    await record(
      service,
      recordProof(service.deps).run({ backup: BACKUP, verification: VERIFICATION }, context),
    );
    expect(await readCard(service.deps).run({}, context)).toEqual({
      ok: true,
      output: {
        card: { ...CARD, key: { store: 'a store of this test', isHeld: false } },
        proven: [
          {
            id: 7,
            backupId: 'G-1',
            triggeredAt: BACKUP.triggeredAt,
            provenAt: '2026-01-01T00:00:03.000Z',
            fingerprint: NEW,
            contentBytes: 9,
          },
        ],
        keysHeld: [STORED_KEY],
      },
      ledger: [],
    });
    // The last look of the proof; reading the card makes no calls.
    expect(service.calls).toEqual(['backups']);
  });

  test('gets its date when it is recorded, since a machine has no clock', async () => {
    const service = fakeService();
    const { preparedAt: _, ...draft } = CARD;
    const proven = { id: 7, fingerprint: NEW };
    await record(service, recordCard(service.deps).run({ card: { ...draft, proven } }, context));
    expect(await readCard(service.deps).run({}, context)).toMatchObject({
      output: { card: { ...CARD, proven: { ...proven, provenAt: NOW } } },
    });
  });

  test('of an instance without one is absent, which is no failure', async () => {
    const { deps } = fakeService();
    expect(await readCard(deps).run({}, context)).toMatchObject({
      ok: true,
      output: { proven: [], keysHeld: [STORED_KEY] },
    });
  });

  test('that cannot be read does not hide the previous one', async () => {
    const service = fakeService();
    await record(service, recordCard(service.deps).run({ card: CARD }, context));
    append(service, { type: 'card.prepared', body: { card: { backupGuid: 5 } } });
    expect(await readCard(service.deps).run({}, context)).toMatchObject({ output: { card: CARD } });
  });

  test('lists each proven backup once, newest proof first, and none that was not read to its end', async () => {
    const service = fakeService();
    const proof = (id: number, verdict: string) => ({
      type: 'key.proven',
      body: { fingerprint: OLD, run: 'R', backup: { id }, verdict, cipherSha256: '', negative: 'refused' },
    });
    append(service, proof(1, 'intact'), proof(2, 'readable'), proof(1, 'restored'), proof(3, 'fits'));
    const result = await readCard(service.deps).run({}, context);
    if (!result.ok) throw new Error('it reads');
    expect(result.output.proven.map(({ id, provenAt }) => [id, provenAt])).toEqual([
      [1, '2026-01-01T00:00:03.000Z'],
      [2, '2026-01-01T00:00:02.000Z'],
    ]);
  });

  test('is not read with a locked key store, which looks like an empty one', async () => {
    const { deps } = fakeService();
    deps.keyring.store.probe = async () => {
      throw new LifeboatError('keys.locked', 'locked');
    };
    expect(await readCard(deps).run({}, context)).toMatchObject({
      ok: false,
      failure: { code: 'keys.locked' },
    });
  });
});

describe("the ledger's record", () => {
  test.for([
    { negative: undefined, recorded: 'not-applicable' },
    { negative: { tested: [], opened: [] }, recorded: 'not-applicable' },
    { negative: { tested: [OLD], opened: [] }, recorded: 'refused' },
    { negative: { tested: [OLD], opened: [OLD] }, recorded: 'not-applicable' },
  ])('of a proof says which key opened which backup: $negative', async ({ negative, recorded }) => {
    const { deps } = fakeService();
    const result = await recordProof(deps).run(
      { backup: BACKUP, verification: VERIFICATION, negative },
      context,
    );
    expect(result).toMatchObject({ ok: true, output: { recorded: true } });
    expect(result.ledger?.map((fact) => readKeyFact(fact))).toEqual([
      {
        type: 'key.proven',
        body: {
          fingerprint: NEW,
          run: 'R',
          backup: { id: 7, backup_id: 'G-1' },
          verdict: 'readable',
          cipherSha256: 'c1',
          contentSha256: 'd2',
          cipherBytes: 5,
          contentBytes: 9,
          negative: recorded,
        },
      },
    ]);
  });

  test('of a recovery says what was recovered from where, and leaves out what is not known', async () => {
    const { deps } = fakeService();
    const result = await recordRecovery(deps).run(
      { record: { runbook: 'restore-backup', restore: { id: 3 }, source: undefined } },
      context,
    );
    expect(result.ledger).toEqual([
      { type: 'recovery.done', body: { runbook: 'restore-backup', restore: { id: 3 }, run: 'R' } },
    ]);
  });
});

describe('a rotation that is proven', () => {
  const RECORD: RotationRecord = {
    fingerprint: NEW,
    backup: BACKUP,
    verification: VERIFICATION,
    negative: { tested: [OLD], opened: [] },
    closes: false,
  };

  test('opens a follow-up to retire the key that it replaced, due when the retention is over', async () => {
    const service = rotated();
    service.config = { retention_time: 14 };
    const result = await recordRotation(service.deps).run({ record: RECORD }, context);
    const { ledger } = result;
    expect(result).toMatchObject({
      output: { proven: true, leaves: [`retire key ${OLD} of orders when no retained backup needs it`] },
    });
    expect(ledger?.map(({ type }) => type)).toEqual(['key.proven', 'follow-up.opened']);
    expect(followUps(ledger)).toEqual([
      {
        id: `retire-key-${OLD}`,
        kind: 'retire-key',
        subject: OLD,
        what: `retire key ${OLD} of orders when no retained backup needs it`,
        since: NOW,
        dueSeconds: 14 * 86_400,
        commands: ['lifeboat keys list orders'],
        instance: 'orders',
        run: 'R',
      },
    ]);
  });

  test('takes the retention from its record before it requests it', async () => {
    const service = rotated();
    const given = { ...RECORD, retentionDays: 3 };
    const { ledger } = await recordRotation(service.deps).run({ record: given }, context);
    expect([followUps(ledger)[0]?.dueSeconds, service.calls]).toEqual([3 * 86_400, ['backups']]);
  });

  test('opens it without a deadline if the retention cannot be read', async () => {
    const service = rotated();
    service.beforeRead = () => {
      throw new LifeboatError('service.unreachable', 'gone');
    };
    const { ledger } = await recordRotation(service.deps).run({ record: RECORD }, context);
    expect(followUps(ledger)[0]).toMatchObject({ subject: OLD });
    expect(followUps(ledger)[0]).not.toHaveProperty('dueSeconds');
  });

  test('also opens it if the backup decides the outcome of a lost answer', async () => {
    const service = fakeService();
    append(service, fact('key.set', OLD), fact('key.uncertain', NEW));
    const { ledger } = await recordRotation(service.deps).run(
      { record: { ...RECORD, closes: true } },
      context,
    );
    expect(ledger?.map(({ type }) => type)).toEqual(['key.set', 'key.proven', 'follow-up.opened']);
  });

  test('opens none when it replaced no key, when it is not proven, and when the follow-up is open already', async () => {
    const first = fakeService();
    append(first, fact('key.set', NEW));
    const unproven = { ...RECORD, negative: undefined };
    const again = rotated();
    await record(again, recordRotation(again.deps).run({ record: RECORD }, context));
    for (const [service, asked] of [
      [first, RECORD],
      [rotated(), unproven],
      [again, RECORD],
    ] as const) {
      const { ledger } = await recordRotation(service.deps).run({ record: asked }, context);
      expect(ledger?.map(({ type }) => type)).not.toContain('follow-up.opened');
    }
  });

  test('opens none for a key that turned out never to have been in force', async () => {
    const service = rotated();
    append(service, { type: 'key.refuted', body: { fingerprint: OLD, run: 'R', backup: { id: 6 } } });
    const { ledger } = await recordRotation(service.deps).run({ record: RECORD }, context);
    expect(followUps(ledger)).toEqual([]);
  });

  test('opens it again when the old key was in force once more and is replaced once more', async () => {
    const service = rotated();
    await record(service, recordRotation(service.deps).run({ record: RECORD }, context));
    append(service, fact('key.set', OLD), fact('key.set', NEW));
    const { ledger } = await recordRotation(service.deps).run({ record: RECORD }, context);
    expect(followUps(ledger).map(({ subject }) => subject)).toEqual([OLD]);
  });
});

/** An instance whose ledger says that the new key was set after the old one. */
function rotated(): FakeService {
  const service = fakeService();
  append(service, fact('key.set', OLD), fact('key.set', NEW));
  return service;
}

function fact(type: string, fingerprint: string): LedgerFact {
  return { type, body: { fingerprint, run: 'R', ...(type === 'key.set' ? { answer: 'accepted' } : {}) } };
}

async function record(service: FakeService, result: Promise<ActivityResult<unknown>>): Promise<void> {
  append(service, ...((await result).ledger ?? []));
}

/** One entry per second, as read from the journal. */
function append({ ledger }: FakeService, ...facts: readonly LedgerFact[]): void {
  for (const { type, body } of facts) {
    const index = ledger.length;
    const seq = index + 1;
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();
    ledger.push({ index, stream: 'instance/orders', seq, at, by: 'ada', type, body, hash: '' });
  }
}

function followUps(ledger: readonly LedgerFact[] = []) {
  return ledger.flatMap(
    ({ type, body }) => afterOf(undefined, { stream: 'instance/orders', type, body, at: NOW }) ?? [],
  );
}
