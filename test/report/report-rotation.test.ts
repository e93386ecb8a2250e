import { expect, test } from 'vitest';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { at, closed, journalOf, performed, recovery, started } from './recovery.ts';

const options = { generatedAt: new Date('2026-03-02T00:00:00Z') };

test('a rotation records the old key, the new key, the call, the proof, and what becomes of the old key', () => {
  const [oldKey, newKey] = ['0a1b2c3d4e5f', '5f4e3d2c1b0a'];
  const before = {
    keysHeld: [oldKey],
    backups: { total: 3, done: 3, downloadable: 2 },
    baseline: { minKeyLength: 16 },
  };
  const entries = journalOf(
    started({ runbook: 'rotate-key', input: { instance: 'orders', reason: 'yearly' } }),
    performed([1, 2], 'preflight', before, 'provingOld'),
    performed([3, 4], 'verifyBackup', { opens: oldKey, verdict: 'readable' }, 'choosingKey', { backup: 1 }),
    performed(
      [5, 6],
      'storeKey',
      { fingerprint: newKey, length: 43, origin: 'generated', store: 'os keychain' },
      'readingBack',
    ),
    performed([6, 7], 'readBackKey', { fingerprint: newKey }, 'settingKey'),
    performed([8, 9], 'setKey', { answer: 'accepted', status: 200 }, 'waitingForBackup'),
    performed([10, 20], 'verifyBackup', { opens: newKey, verdict: 'readable' }, 'testing', { backup: 2 }),
    performed([21, 22], 'negativeTest', { opened: [], tested: [oldKey] }, 'done'),
  );
  const followUp = {
    kind: 'retire-key',
    subject: oldKey,
    what: 'retire it',
    since: at(22),
    dueSeconds: 86_400,
  };
  const fact = (type: string, body: object): Entry => ({
    ...(entries[0] as Entry),
    stream: 'instance/orders',
    type,
    body: body as Entry['body'],
  });
  const history = [
    fact('key.set', { fingerprint: oldKey, run: 'before' }),
    fact('follow-up.opened', { followUp, run: '01R' }),
  ];
  const { rotation: record } = buildReport(entries, { ...options, history });
  const of = (group: keyof NonNullable<typeof record>, label: string) =>
    record?.[group].find((one) => one.label === label)?.value;
  expect(of('oldKey', 'Fingerprint')).toBe(oldKey);
  expect(of('oldKey', 'Set')).toBe(at(0));
  expect(of('oldKey', 'Downloadable backups')).toBe('2');
  expect(of('newKey', 'Fingerprint')).toBe(newKey);
  expect(of('newKey', 'Length in characters')).toBe('43');
  expect(of('storage', 'Read back before it was sent')).toBe('yes, the same');
  expect(of('call', 'Answer')).toBe('accepted');
  expect(record?.proof.map(({ value }) => value)).toEqual(['readable', 'refused, as expected']);
  expect(of('disposition', 'Kept at least until')).toBe(at(22 + 86_400));
  expect(of('substitution', 'Was it a key held before')).toBe('yes');
  expect(buildReport(recovery, options).rotation).toBeUndefined();
});

test('the record of a rotation stays the same when the key is changed later, and set back', () => {
  const [oldKey, newKey, third] = ['0a1b2c3d4e5f', '5f4e3d2c1b0a', 'aaaaaaaaaaaa'];
  const entries = journalOf(
    started({ runbook: 'rotate-key', input: { instance: 'orders' } }),
    performed([1, 2], 'preflight', { currentKey: oldKey }, 'choosingKey'),
    performed([8, 9], 'setKey', { answer: 'accepted', status: 200 }, 'done'),
    closed(25),
  );
  const fact = (seconds: number, type: string, body: object): Entry => ({
    ...(entries[0] as Entry),
    ...{ stream: 'instance/orders', at: at(seconds), type, body: body as Entry['body'] },
  });
  const followUp = (subject: string, since: number) => ({
    ...{ id: `retire-${subject}`, kind: 'retire-key', subject, what: `retire key ${subject}` },
    ...{ since: at(since), dueSeconds: 86_400 },
  });
  const first = [
    fact(-500, 'key.set', { fingerprint: oldKey, run: '00A' }),
    fact(9, 'key.set', { fingerprint: newKey, run: '01R' }),
    fact(22, 'follow-up.opened', { followUp: followUp(oldKey, 22), run: '01R' }),
  ];
  const later = [
    fact(900, 'key.set', { fingerprint: third, run: '02S' }),
    fact(950, 'follow-up.opened', { followUp: followUp(newKey, 950), run: '02S' }),
    fact(1900, 'key.set', { fingerprint: oldKey, run: '03T' }),
  ];
  const report = buildReport(entries, { ...options, history: first });
  expect(buildReport(entries, { ...options, history: [...first, ...later] })).toEqual(report);
  expect(report.rotation?.oldKey).toContainEqual({ label: 'Set', value: at(-500) });
  expect(report.rotation?.disposition[0]).toEqual({ label: 'Key', value: oldKey, code: true });
  const text = renderReport(report, 'md');
  expect(text).toContain('The old key is kept. A follow-up in the ledger');
  expect(text).not.toContain('the run opened none');
  expect(text).toContain(`In the ledger of the instance, for later: retire key ${oldKey}.`);
});

test('a rotation without a follow-up in the ledger claims none', () => {
  const entries = journalOf(
    started({ runbook: 'rotate-key', input: { instance: 'orders' } }),
    performed([8, 9], 'setKey', { answer: 'accepted' }, 'done'),
    { at: 9, entry: { stream: 'run/01R', type: 'run.abandoned', body: { reason: 'enough' } } },
  );
  const text = renderReport(buildReport(entries, options), 'md');
  expect(text).not.toContain('The old key is kept');
  expect(text).toContain('opened no follow-up to retire an old key');
});
