import { describe, expect, test } from 'vitest';
import { prepareRecovery } from '../../src/activities/change-key.ts';
import { changeBackupSettings, changeUpdateSetting } from '../../src/activities/change-settings.ts';
import { fakeService, type Outcome, STORED_KEY } from './fake-service.ts';
import { contextOf } from './world.ts';

const LOST: Outcome = { done: true, answer: 'lost' };
const GONE: Outcome = { done: false, answer: 'lost' };
const context = contextOf(() => new Date());

describe('preparing a recovery', () => {
  test('without a key reads the guid and writes nothing to the ledger', async () => {
    const { deps, calls } = fakeService();
    expect(await prepareRecovery(deps).run({}, context)).toEqual({
      ok: true,
      output: { answer: 'accepted', status: 202, backupGuid: 'a-guid' },
      ledger: [],
    });
    expect(calls).toEqual(['prepareRecovery']);
  });

  test('without a key is sent again when its answer is lost', async () => {
    const { deps, outcomes, calls } = fakeService();
    outcomes.push(LOST, LOST);
    expect(await prepareRecovery(deps).run({}, context)).toMatchObject({ ok: true });
    expect(calls).toHaveLength(3);
  });

  test('without a key is sent again if the answer lacks the guid', async () => {
    const { deps, outcomes, calls } = fakeService();
    outcomes.push({ done: true, answer: 'without-id' });
    expect(await prepareRecovery(deps).run({}, context)).toMatchObject({ output: { backupGuid: 'a-guid' } });
    expect(calls).toHaveLength(2);
  });

  test.each([
    ['leaves the guid out', {}, 1],
    ['was cut off', undefined, 3],
    ['has a number in its place', { backup_guid: 4 }, 3],
  ])('without a key, a 200 that %s is final or is requested again', async (_, raw, times) => {
    const { deps } = fakeService();
    let sent = 0;
    const prepared = { outcome: 'accepted', value: { backupGuid: undefined }, raw, status: 200 };
    Object.assign(deps.service, {
      prepareRecovery: async () => {
        sent += 1;
        return prepared;
      },
    });
    expect(await prepareRecovery(deps).run({}, context)).toMatchObject({ output: { status: 200 } });
    expect(sent).toBe(times);
  });

  test('without a key, repeatedly lost answers are a failure that may be retried, and cast no doubt on any key', async () => {
    const { deps, outcomes } = fakeService();
    outcomes.push(LOST, LOST, LOST);
    const result = await prepareRecovery(deps).run({}, context);
    expect(result).toMatchObject({ ok: false, failure: { code: 'service.timeout' } });
    expect(result.ok ? [] : result.failure.hints.join()).toContain('does no harm');
    expect(result.ledger ?? []).toEqual([]);
  });

  test('with a key that is not stored sends nothing', async () => {
    const { deps, calls } = fakeService();
    const result = await prepareRecovery(deps).run({ fingerprint: 'dddddddddddd' }, context);
    expect(result).toMatchObject({ ok: false, failure: { code: 'key.not-stored' } });
    expect(calls).toEqual([]);
  });
});

describe('preparing a recovery with a key', () => {
  test('learns the guid, and the ledger learns of the key', async () => {
    const { deps, calls } = fakeService();
    const result = await prepareRecovery(deps).run({ fingerprint: STORED_KEY }, context);
    expect(result).toMatchObject({ ok: true, output: { answer: 'accepted', backupGuid: 'a-guid' } });
    expect(result.ledger?.map(({ type }) => type)).toEqual(['key.set']);
    expect(calls).toEqual(['prepareRecovery a-key-that-is-stored']);
  });
});

describe('changing the settings of backups', () => {
  const settings = { minBackupCount: 0, retentionDays: 14, excludedFromAutoBackup: false };
  const wire = { min_backup_count: 0, retention_time: 14, exclude_from_auto_backup: false };

  test('is done when the service shows them', async () => {
    const { deps, calls } = fakeService();
    expect(await changeBackupSettings(deps).run({ settings }, context)).toEqual({
      ok: true,
      output: { answer: 'accepted', settings },
      ledger: [],
    });
    expect(calls).toEqual(['changeBackupsConfig', 'backupsConfig']);
  });

  test('changes only the given settings', async () => {
    const service = fakeService();
    service.config = { ...wire, retention_time: 7 };
    await changeBackupSettings(service.deps).run({ settings: { retentionDays: 14 } }, context);
    expect(service.config).toEqual(wire);
  });

  test('that the service accepts and does not keep is a failure that names the setting', async () => {
    const service = fakeService();
    service.config = { ...wire, retention_time: 30 };
    service.beforeRead = () => Object.assign(service.config, { retention_time: 30 });
    expect(await changeBackupSettings(service.deps).run({ settings }, context)).toMatchObject({
      ok: false,
      failure: {
        code: 'settings.not-taken',
        shortMessage:
          'the service accepted the settings, but does not show them: the retention in days is 30, not 14',
      },
    });
  });

  test('with a lost answer is decided by what the service shows', async () => {
    const service = fakeService();
    service.config = { ...wire, retention_time: 30 };
    service.outcomes.push(GONE, LOST);
    const verb = changeBackupSettings(service.deps);
    expect(await verb.run({ settings }, context)).toMatchObject({
      ok: false,
      failure: { code: 'service.timeout' },
    });
    expect(await verb.run({ settings }, context)).toMatchObject({
      ok: true,
      output: { answer: 'adopted', settings },
    });
  });

  test('with a lost answer does not count as done when the service shows nothing', async () => {
    const service = fakeService();
    service.outcomes.push(GONE);
    expect(await changeBackupSettings(service.deps).run({ settings }, context)).toMatchObject({ ok: false });
  });
});

describe('allowing or forbidding maintenance updates', () => {
  const setting = { type: 'general', allowed: false };

  test('is done when the answer names the setting', async () => {
    const { deps } = fakeService();
    const result = await changeUpdateSetting(deps).run({ setting }, context);
    expect(result).toMatchObject({ ok: true, output: setting });
  });

  test('fails when the service names the opposite, and when the answer is lost', async () => {
    const service = fakeService();
    Object.assign(service.deps.service, {
      changeUpdateSetting: async () => ({
        outcome: 'accepted',
        value: { setting: { type: 'general', allowed: true } },
        status: 200,
        serverDate: undefined,
      }),
    });
    expect(await changeUpdateSetting(service.deps).run({ setting }, context)).toMatchObject({
      ok: false,
      failure: { code: 'settings.not-taken' },
    });
    const lost = fakeService();
    lost.outcomes.push(LOST, LOST, LOST);
    expect(await changeUpdateSetting(lost.deps).run({ setting }, context)).toMatchObject({
      ok: false,
      failure: { code: 'service.timeout', hints: [expect.stringContaining('does no harm')] },
    });
  });

  test('is not offered in the words of the operator when the service does not know it', async () => {
    const { deps } = fakeService();
    const failure = { code: 'service.not-found', shortMessage: 'no', hints: [], evidence: {} };
    Object.assign(deps.service, { changeUpdateSetting: async () => ({ outcome: 'refused', failure }) });
    expect(await changeUpdateSetting(deps).run({ setting }, context)).toMatchObject({
      failure: { shortMessage: expect.stringMatching(/^the operator of the platform does not offer/) },
    });
  });

  const lost = { outcome: 'unknown', failure: { code: 'service.reset', evidence: {} } };
  const refused = { outcome: 'refused', failure: { code: 'service.forbidden', evidence: {} } };

  test.each([
    { when: 'every answer is lost', outcomes: [lost, lost, lost], may: true },
    { when: 'an answer is lost, and the next request is refused', outcomes: [lost, refused], may: true },
    { when: 'nothing but a refusal comes', outcomes: [refused], may: undefined },
  ])('says whether the setting may be in force nevertheless: $when', async ({ outcomes, may }) => {
    const { deps } = fakeService();
    const left = [...outcomes];
    Object.assign(deps.service, { changeUpdateSetting: async () => left.shift() });
    const result = await changeUpdateSetting(deps).run({ setting }, context);
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) expect(result.failure.evidence['mayBeInForce']).toBe(may);
  });
});
