import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalBody } from '../../../src/store/canonical.ts';
import { checkLog } from '../../../src/store/log/check-log.ts';
import { type ArmedCall, MAX_ARMED } from '../../../src/store/log/checkpoint.ts';
import { detailsOf, inShort, rolledBack } from '../../../src/store/log/explain-trouble.ts';
import { endorsementOf } from '../../../src/store/log/named-keys.ts';
import { homePlace } from '../../../src/store/log/places/folder-place.ts';
import { forge, originIn, rewrite, rowsOf } from '../../audit/forge.ts';
import { freshSigner } from '../fresh-signer.ts';
import { temporaryHome } from '../temporary-home.ts';
import { cutFrom, openCheckedStore, removeCheckpoints, tamper } from './checked-store.ts';

const reopened = async (
  store: Awaited<ReturnType<typeof openCheckedStore>>,
  folders: readonly string[] = [],
) => {
  await store.close();
  return openCheckedStore({ home: store.home, signer: store.signer, folders });
};

test('a store that was never written, and one whose checkpoints fit, cause no finding', async () => {
  const store = await openCheckedStore();
  expect((await store.check()).trouble).toBeUndefined();
  await store.arm('a');
  expect((await store.check()).trouble).toBeUndefined();
  await store.sealer.sealNow();
  await store.end('a');
  const checked = await store.check();
  expect(checked).toMatchObject({
    trouble: undefined,
    warnings: [],
    store: { vouched: 4, head: 'believed' },
  });
});

test('a store that is smaller than a checkpoint was rolled back, and the lost call is named', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.end('a');
  await store.sealer.sealNow();
  await store.arm('b');
  await store.sealer.sealNow();
  await store.close();
  cutFrom(store.home, 6);
  const { trouble } = await (await reopened(store)).check();
  expect(trouble).toMatchObject({
    kinds: ['rolled-back'],
    calls: [
      { stream: 'instance/orders', instance: 'orders', verb: 'restoreBackup', intent: 'b', isOpen: true },
    ],
  });
  if (trouble === undefined) throw new Error('no trouble');
  expect(inShort(trouble)).toMatch(/^the journal was rolled back: it ends at entry 6, and 9 were signed in /);
  expect(detailsOf(trouble).join('\n')).toContain(
    'armed in the lost part: restoreBackup on orders, by a single command',
  );
  const refusal = rolledBack(trouble);
  expect(refusal).toMatchObject({ code: 'journal.rolled-back', exitCode: 5 });
  expect(refusal.hints.join('\n')).toContain('lifeboat audit accept-loss --reason TEXT');
});

test('a call whose outcome was on record in the lost part is reported as no longer open', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.arm('b');
  await store.sealer.sealNow();
  await store.end('b');
  await store.sealer.sealNow();
  await store.close();
  cutFrom(store.home, 4);
  const { trouble } = await (await reopened(store)).check();
  // The store itself still has the first call in doubt.
  expect(trouble?.calls.map(({ intent, isOpen }) => [intent, isOpen])).toEqual([['b', false]]);
});

test('a store that continued after a rollback has another history', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.arm('b');
  await store.sealer.sealNow();
  await store.close();
  cutFrom(store.home, 4);
  const again = await reopened(store);
  for (const intent of ['c', 'd']) await again.arm(intent);
  const { trouble } = await again.check();
  expect(trouble).toMatchObject({ kinds: ['rolled-back'], misfits: [{ size: 7 }] });
  expect(trouble && inShort(trouble)).toMatch(/has a history other than the one signed/);
});

test('removed checkpoints are noticed, unless another place has them', async () => {
  const folder = temporaryHome();
  const store = await openCheckedStore({ folders: [folder] });
  await store.arm('a');
  await store.sealer.sealNow();
  await store.end('a');
  removeCheckpoints(join(store.home, 'checkpoints'));
  const checked = await store.check();
  expect(checked.trouble).toBeUndefined();
  expect(checked.warnings).toEqual([
    `checkpoints were removed from ${join(store.home, 'checkpoints')}; another place has them`,
  ]);
  removeCheckpoints(folder);
  mkdirSync(folder);
  expect((await store.check()).trouble?.kinds).toEqual(['checkpoints-removed']);
});

test('unreadable checkpoints are not called removed, and the hint says what to do', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.end('a');
  const checkpoints = join(store.home, 'checkpoints');
  removeCheckpoints(checkpoints);
  // A file in place of the folder makes the system refuse to list it.
  writeFileSync(checkpoints, '');
  const { trouble } = await store.check();
  expect(trouble?.kinds).toEqual(['checkpoints-unread']);
  if (trouble === undefined) throw new Error('no trouble');
  expect(inShort(trouble)).toMatch(/that checkpoint cannot be read: .*checkpoints/u);
  expect(inShort(trouble)).not.toContain('removed');
  expect(rolledBack(trouble).hints.join('\n')).toContain('then run the same command again');
});

test('removed rows, and unsigned rows, are found by the count', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.close();
  tamper(store.home, 'DELETE FROM entries WHERE leaf = 2');
  expect((await (await reopened(store)).check()).trouble?.kinds).toContain('rows-missing');
  const other = await openCheckedStore();
  await other.arm('a');
  await other.close();
  tamper(
    other.home,
    "INSERT INTO entries SELECT 4, stream, 4, at, by, 'call.decided', body, hash, x'' FROM entries WHERE leaf = 3",
  );
  expect((await (await reopened(other)).check()).trouble?.kinds).toContain('unsigned');
});

test('if rows are missing, a call that only a fitting checkpoint names is lost', async () => {
  const store = await openCheckedStore();
  for (const intent of ['a', 'b', 'c']) await store.arm(intent);
  await store.end('c');
  await store.sealer.sealNow();
  await store.close();
  // The arming of `b`: it stores no node of the tree at the size of the checkpoint.
  tamper(store.home, "DELETE FROM entries WHERE leaf = 6 AND type = 'intent.armed'");
  const { trouble } = await (await reopened(store)).check();
  expect(trouble).toMatchObject({ kinds: ['rows-missing'], misfits: [] });
  expect(trouble?.calls.map(({ intent, isOpen }) => [intent, isOpen])).toEqual([['b', true]]);
});

test('if rows are missing at the end, the journal ends there, whatever its heads say', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.arm('b');
  await store.sealer.sealNow();
  await store.close();
  tamper(store.home, 'DELETE FROM entries WHERE leaf >= 4');
  const { trouble } = await (await reopened(store)).check();
  expect(trouble).toMatchObject({ kinds: ['rolled-back', 'rows-missing'], store: { end: 4, size: 7 } });
  expect(trouble && inShort(trouble)).toMatch(/it ends at entry 4, and 7 were signed in/);
});

test('a head without a known signer is a finding; an unendorsed installation is one only where a single machine writes', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.close();
  tamper(store.home, "UPDATE heads SET note = replace(note, 'lifeboat/', 'lifeboat/x')");
  expect((await (await reopened(store)).check()).trouble?.kinds).toEqual(['unsigned']);
  const first = await openCheckedStore();
  await first.arm('a');
  await first.close();
  const second = await openCheckedStore({ home: first.home, signer: freshSigner() });
  await second.arm('b');
  const seenByFirst = (isShared: boolean) =>
    checkLog(second.journal, first.places, { ownKey: first.signer.publicKey, isShared });
  expect((await seenByFirst(false)).trouble?.kinds).toEqual(['unsigned']);
  expect(await seenByFirst(true)).toMatchObject({
    trouble: undefined,
    warnings: [expect.stringContaining('endorse')],
  });
});

test.each(['log.begun', 'key.endorsed', 'key.announced'])(
  'a %s that a forger signed himself is not trusted',
  async (type) => {
    const store = await openCheckedStore();
    await store.arm('a');
    await store.sealer.sealNow();
    await store.close();
    const thief = freshSigner();
    const { installation, publicKey } = thief;
    forge(store.home, (db) => {
      const origin = originIn(db);
      const note = endorsementOf(publicKey, origin, thief);
      const body = JSON.stringify({ format: 1, installation, origin, publicKey, note, reason: 'x' });
      const own = { stream: 'store/log', at: new Date().toISOString(), by: 'thief', type, body };
      rewrite(db, [...rowsOf(db), own], { signer: thief });
    });
    expect((await (await reopened(store)).check()).trouble?.kinds).toEqual(['unsigned']);
  },
);

test('a journal begun and signed by another key, with no checkpoint left, is noticed with the key of the machine', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  await store.close();
  const thief = freshSigner();
  forge(store.home, (db) => {
    const rows = rowsOf(db).filter(({ type }) => type !== 'intent.armed');
    const anew = ({ body, type, ...row }: (typeof rows)[number]) => {
      if (type !== 'log.begun') return { ...row, type, body };
      const begun = { ...JSON.parse(body), publicKey: thief.publicKey };
      return { ...row, type, body: canonicalBody(begun, 'the beginning') };
    };
    rewrite(db, rows.map(anew), { signer: thief });
  });
  removeCheckpoints(join(store.home, 'checkpoints'));
  const { trouble, warnings } = await (await reopened(store)).check();
  expect(trouble).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('does not name the key of this machine')]);
});

test('a home with checkpoints of a log that it does not hold is reported as having lost it', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  const checked = await checkLog(undefined, [homePlace(store.home)], {});
  expect(checked.trouble).toMatchObject({ kinds: ['gone'], calls: [{ intent: 'a' }] });
  const fresh = await openCheckedStore();
  await fresh.arm('c');
  cpSync(join(store.home, 'checkpoints'), join(fresh.home, 'checkpoints'), { recursive: true });
  expect((await fresh.check()).trouble?.kinds).toEqual(['gone']);
});

test('a checkpoint without a known signer stops nothing, and is named', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  const origin = (await store.journal.log.origin()) ?? '';
  const note = freshSigner().sign({ origin, size: 900, root: 'ab'.repeat(32), armed: [] });
  const folder = join(store.home, 'checkpoints', origin.slice(9), 'x000/x000');
  writeFileSync(join(folder, '900'), note, { mode: 0o600 });
  writeFileSync(join(folder, '901'), 'half a no', { mode: 0o600 });
  const { trouble, warnings } = await store.check();
  expect(trouble).toBeUndefined();
  expect(warnings).toEqual([`${join(folder, '901')} is not a checkpoint that a known key has signed`]);
});

test('a lost part with more calls than a checkpoint names says how many, and counts none as answered', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  const origin = (await store.journal.log.origin()) ?? '';
  const armed = Array.from({ length: MAX_ARMED + 3 }, (_, nr): ArmedCall => {
    const at = new Date(nr * 1_000).toISOString();
    return { stream: `run/r${nr}`, instance: 'orders', verb: 'restoreBackup', intent: 'restore-0', at };
  });
  const folder = join(store.home, 'checkpoints', origin.slice(9), 'x000/x000');
  // The second one has no room for the newest call of the first.
  for (const [size, named] of [
    [900, armed.slice(1)],
    [901, armed.toSpliced(3, 1)],
  ] as const) {
    const note = store.signer.sign({ origin, size, root: 'ab'.repeat(32), armed: named });
    writeFileSync(join(folder, String(size)), note, { mode: 0o600 });
  }
  const { trouble } = await store.check();
  if (trouble === undefined) throw new Error('nothing was found');
  expect(trouble.unnamed).toBe(2);
  expect(trouble.calls.every(({ isOpen }) => isOpen)).toBe(true);
  expect(detailsOf(trouble)).toContain(
    'and 2 calls more that no checkpoint has room to name: look at every instance',
  );
});

test('a call that was sent twice in the lost part is named by its last arming, with the time of its first', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  await store.sealer.sealNow();
  const origin = (await store.journal.log.origin()) ?? '';
  const folder = join(store.home, 'checkpoints', origin.slice(9), 'x000/x000');
  const call = { stream: 'run/r1', instance: 'orders', verb: 'restoreBackup', intent: 'restore-0' } as const;
  const [first, again] = ['2026-11-21T03:00:00.000Z', '2026-11-21T03:03:00.000Z'];
  for (const [size, armed] of [
    [900, [{ ...call, at: first }]],
    [901, []],
    [902, [{ ...call, at: again }]],
  ] as const) {
    const note = store.signer.sign({ origin, size, root: 'ab'.repeat(32), armed });
    writeFileSync(join(folder, String(size)), note, { mode: 0o600 });
  }
  const { trouble } = await store.check();
  expect(trouble?.calls).toEqual([{ ...call, at: again, firstAt: first, isOpen: true }]);
});

test('two copies of a home that share a folder stop each other', async () => {
  const folder = temporaryHome();
  const store = await openCheckedStore({ folders: [folder] });
  await store.arm('a');
  await store.sealer.sealNow();
  await store.close();
  const copy = temporaryHome();
  rmSync(copy, { recursive: true });
  cpSync(store.home, copy, { recursive: true });
  const here = await reopened(store, [folder]);
  const there = await openCheckedStore({ home: copy, signer: store.signer, folders: [folder] });
  await here.arm('b');
  await here.sealer.sealNow();
  await there.arm('c');
  await there.end('c');
  // Before a byte is sent, not only at the next start.
  await expect(there.sealer.sealNow()).rejects.toMatchObject({ code: 'journal.rolled-back', exitCode: 5 });
  for (const one of [here, there])
    expect((await one.check()).trouble?.kinds, one.home).toEqual(['rolled-back']);
});

test('a place that is down is named, and causes no delay', async () => {
  const file = join(temporaryHome(), 'file');
  writeFileSync(file, '');
  const store = await openCheckedStore({ folders: [file] });
  await store.arm('a');
  await store.sealer.sealNow();
  expect(store.problems).toEqual([
    `the checkpoint of the log cannot be written: ${file}: something else has this name`,
  ]);
  expect(await store.check()).toMatchObject({
    trouble: undefined,
    warnings: [expect.stringContaining(file)],
  });
});

test('a checkpoint that the home rejects is an error, and is not remembered as written', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  writeFileSync(join(store.home, 'checkpoints'), '');
  await expect(store.sealer.sealNow()).rejects.toMatchObject({ code: 'evidence.not-sealed' });
  await store.end('a');
  expect(await store.journal.log.vouched()).toBe(0);
});

test('the checkpoint names the calls armed at its size', async () => {
  const store = await openCheckedStore();
  await store.arm('a');
  const note = await store.sealer.sealNow();
  expect(note).toMatch(/\narmed instance\/orders orders restoreBackup a /);
  await store.end('a');
  expect(await store.sealer.sealNow()).not.toContain('\narmed ');
});
