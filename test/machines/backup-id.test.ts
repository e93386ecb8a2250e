import { describe, expect, test } from 'vitest';
import { isGuidOf } from '../../machines/closing/evaluate.ts';
import { guidOf, isOneBackup, mayBeOfOneInstance } from '../../machines/parts/backup-id.ts';
import { drive } from './drive.ts';

const GUID = '8377f207-21b4-48fd-a75b-78c1bcdef8ca';
const OTHER = '8377f207-21b4-48fd-a75b-78c1bcdef8cb';
/** Its last group could be taken for a time. */
const DIGITS = '8377f207-21b4-48fd-a75b-174269340764';
const TIME = '1742693407644';

describe('the id of a backup', () => {
  test.each([
    [`${GUID}-${TIME}`, GUID],
    [`${GUID.toUpperCase()}-${TIME}`, GUID.toUpperCase()],
    [`${DIGITS}-${TIME}`, DIGITS],
    [`${GUID}-5`, GUID],
    [GUID, undefined],
    [DIGITS, undefined],
    [`bkp-4-${TIME}`, undefined],
    ['bkp:4.900041~c2', undefined],
    [`x${GUID}-${TIME}`, undefined],
    [`${GUID}-${TIME}-b`, undefined],
    [`${GUID}-`, undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s begins with the guid %s', (id, guid) => {
    expect(guidOf(id)).toBe(guid);
  });

  test('says whether a guid matches only where it shows one; the case of letters does not matter', () => {
    expect(isGuidOf(GUID, `${GUID.toUpperCase()}-${TIME}`)).toBe(true);
    expect(isGuidOf(DIGITS, `${DIGITS}-${TIME}`)).toBe(true);
    expect(isGuidOf(OTHER, `${GUID}-${TIME}`)).toBe(false);
    expect(isGuidOf(GUID, `${GUID}-5`)).toBe(true);
    expect(isGuidOf('8377f207-21b4-48fd-a75b', DIGITS)).toBeUndefined();
    expect(isGuidOf(GUID, 'bkp:4.900041~c2')).toBeUndefined();
  });
});

test('an id with a time at its end names one backup; a guid never does, even one that ends in digits', () => {
  const ids = [`${GUID}-${TIME}`, `${DIGITS}-${TIME}`, `${GUID}-5`, `bkp-4-${TIME}`];
  expect(ids.map(isOneBackup)).toEqual(ids.map(() => true));
  expect([GUID, DIGITS, 'bkp-4', 'bkp:4.900041~c2'].map(isOneBackup)).toEqual([false, false, false, false]);
});

describe('two ids may be of one instance', () => {
  const ids = [GUID, GUID.toUpperCase(), `${GUID}-${TIME}`, `${GUID}-1742693407000`, `${GUID}-5`];

  test.each(ids)('when they begin with the same guid: %s and each of the others', (one) => {
    expect(ids.map((other) => mayBeOfOneInstance(one, other))).toEqual(ids.map(() => true));
  });

  test('when one is the part of the other before its time, whatever its form', () => {
    expect(mayBeOfOneInstance(`bkp-4-${TIME}`, 'bkp-4-1742693407000')).toBe(true);
    expect(mayBeOfOneInstance('bkp-4', `bkp-4-${TIME}`)).toBe(true);
  });

  test('but not when they only look alike', () => {
    for (const [one, other] of [
      [GUID, OTHER],
      [GUID, `${OTHER}-${TIME}`],
      [DIGITS, '8377f207-21b4-48fd-a75b-999999999999'],
      [DIGITS, `${GUID}-${TIME}`],
      ['bkp-4', 'bkp-40'],
      ['', GUID],
    ] as const) {
      expect(mayBeOfOneInstance(one, other), `${one} ${other}`).toBe(false);
      expect(mayBeOfOneInstance(other, one), `${other} ${one}`).toBe(false);
    }
  });
});

describe('what is recovered', () => {
  const onRecord = (backupId: string) => ({
    proven: [],
    keysHeld: ['aaaaaaaaaaaa'],
    seen: { at: '2026-03-01T03:00:00Z', backups: [{ id: 7, backupId, status: 'done' }] },
  });
  const lost = (backupId: string, asked = {}) =>
    drive(
      'disaster-recovery',
      { target: 'orders-dr', mode: 'perform', ...asked },
      { readCard: [{ output: onRecord(backupId) }] },
    );

  test('is the newest backup when only the guid is given, even one that ends in digits', () => {
    const run = lost(`${DIGITS}-${TIME}`, { backup: DIGITS });
    expect(run.context().source.from).toMatchObject({ guid: DIGITS, what: 'newest', how: 'seen' });
  });

  test('is one backup when its id is given, even one of another form that was listed', () => {
    const run = lost('bkp:4.900041~c2');
    run.answer({ type: 'operator.useBackup', guid: 'bkp:4.900041~c2' });
    expect(run.context().source.from).toMatchObject({ what: 'backup', how: 'seen' });
  });

  test('is never offered as the newest one by guid when the id has a form that shows no guid', () => {
    const options = lost(`bkp-4-${TIME}`).question()?.options ?? [];
    expect(options.map(({ event }) => event.type)).not.toContain('operator.useNewest');
  });
});
