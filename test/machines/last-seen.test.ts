import { expect, test } from 'vitest';
import { drive } from './drive.ts';

const GUID = '8377f207-21b4-48fd-a75b-78c1bcdef8ca';
const AT = '2026-03-01T03:00:00Z';

/** A recovery of a lost instance without a card, with this many of its backups in the last list. */
function lost(...backups: readonly { readonly id: number; readonly backupId: string }[]) {
  const listed = backups.map((backup) => ({ ...backup, status: 'done', triggeredAt: AT }));
  const onRecord = { proven: [], keysHeld: ['aaaaaaaaaaaa'], seen: { at: AT, backups: listed } };
  return drive(
    'disaster-recovery',
    { target: 'orders-dr', mode: 'perform' },
    { readCard: [{ output: onRecord }] },
  );
}

test('without a card the newest backup is recovered by the guid with which the ids listed last begin', () => {
  const run = lost({ id: 7, backupId: `${GUID}-1742693407644` });
  expect(run.state()).toBe('source.asking');
  expect(run.question()?.options[0]?.hint).toContain(GUID);
  run.answer({ type: 'operator.useNewest' });
  expect(run.context().source.from).toMatchObject({ guid: GUID, what: 'newest', how: 'seen' });
});

test('without a card a backup that was listed last can be chosen, and nothing calls it proven', () => {
  const id = `${GUID}-1742693407644`;
  const run = lost({ id: 7, backupId: id });
  expect(run.question()?.options.map(({ label }) => label)).toContain(`backup 7 of ${AT}, not proven`);
  run.answer({ type: 'operator.useBackup', guid: id });
  expect(run.context().source.from).toMatchObject({ guid: id, what: 'backup', how: 'seen' });
  expect(run.context().source.from?.fingerprint).toBe('');
});

test('an id that cannot be sent is not offered, and without any other the guid is asked for', () => {
  expect(lost({ id: 7, backupId: 'two words' }).state()).toBe('source.enteringGuid');
  expect(lost().state()).toBe('source.enteringGuid');
});

test('for an id of another form, only that backup is offered', () => {
  const run = lost({ id: 7, backupId: 'bkp:4.900041~c2' });
  expect(run.question()?.options.map(({ event }) => event.type)).toEqual([
    'operator.useBackup',
    'operator.typeGuid',
    'operator.stop',
  ]);
});
