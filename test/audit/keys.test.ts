import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditOptions } from '../../src/audit/audit.ts';
import { canonicalBody } from '../../src/store/canonical.ts';
import { endorsementOf } from '../../src/store/log/named-keys.ts';
import { homePlace } from '../../src/store/log/places/folder-place.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { openSqliteForReading } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { forge, originIn, rewrite, rowsOf } from './forge.ts';
import { auditHome, codesOf, openSealed, type SealedJournal, sealedHome } from './sealed-journal.ts';

const found = async (sealed: Pick<SealedJournal, 'home'>, options: Partial<AuditOptions> = {}) =>
  codesOf(await auditHome(sealed, options)).filter((code) => code !== 'note home.only');
const entry = (type: string, { installation, publicKey }: Signer) => ({
  stream: 'store/log',
  at: new Date().toISOString(),
  by: 'thief',
  type,
  body: JSON.stringify(
    type === 'log.begun'
      ? { format: 1, origin: 'lifeboat/0123456789abcdef', publicKey }
      : { installation, publicKey },
  ),
});
/** A thief's endorsement of himself. */
const selfEndorsed = (thief: Signer, origin: string) => ({
  ...entry('key.endorsed', thief),
  body: canonicalBody({ note: endorsementOf(thief.publicKey, origin, thief), reason: 'x' }, 'it'),
});
/** A second installation appends to the store of the first one and seals it. */
const joined = async (first: SealedJournal, signer = freshSigner()) => {
  const second = await openSealed({ home: first.home, signer });
  await second.append({ stream: 'run/b', type: 'note', body: 'of the second' });
  await second.sealer.sealNow();
  await second.close();
  return signer;
};
const endorsed = async ({ home, signer }: SealedJournal, { publicKey }: Signer) => {
  const sealed = await openSealed({ home, signer });
  const origin = (await sealed.journal.log.origin()) ?? '';
  await sealed.append({
    stream: 'store/log',
    type: 'key.endorsed',
    body: { note: endorsementOf(publicKey, origin, signer), reason: 'a colleague' },
  });
  await sealed.sealer.sealNow();
  await sealed.close();
};

test('a given key that has signed nothing here pins nothing', async () => {
  const sealed = await sealedHome(3);
  const other = freshSigner().publicKey;
  expect(await found(sealed, { publicKey: other })).toContain('problem key.other');
  expect(await found(sealed, { storedKey: other })).toContain('problem key.other');
  expect(await found(sealed, { publicKey: 'no key' })).toContain('problem key.unreadable');
});

test('the key of a machine that has joined a shared store without writing to it pins nothing, and causes no accusation', async () => {
  const sealed = await sealedHome(3);
  expect(await found(sealed, { storedKey: freshSigner().publicKey, isShared: true })).toEqual([
    'limit key.none',
  ]);
});

test('a person who has joined a shared store without writing to it has signed the checkpoints of her own home', async () => {
  const sealed = await sealedHome(3);
  const [joiner, thief, home] = [freshSigner(), freshSigner(), temporaryHome()];
  const reader = await openSqliteForReading({ home: sealed.home, projections: [] });
  const [origin = '', { size, root }] = [await reader.log.origin(), await reader.log.head()];
  await reader.close();
  const sealedBy = async (signer: typeof joiner, at: string) =>
    homePlace(at).write(signer.sign({ origin, size, root, armed: [] }), signer);
  await sealedBy(joiner, home);
  const options = { storedKey: joiner.publicKey, isShared: true };
  const report = async (more = {}) =>
    (await found(sealed, { ...options, places: [homePlace(home)], ...more })).toSorted();
  expect(await report()).toEqual(['limit key.none', 'limit key.unvouched']);
  // Another key is not hers, nor is any without her key store.
  expect(await report({ storedKey: thief.publicKey })).toContain('problem key.other');
  expect(await report({ storedKey: undefined })).toContain('problem key.other');
  await sealedBy(thief, home);
  expect(await report()).toContain('problem key.other');
});

test('a log continued with another key, announced in it, is found with the key of this machine, and without any', async () => {
  const sealed = await sealedHome(3);
  const thief = freshSigner();
  forge(sealed.home, (db) => rewrite(db, [...rowsOf(db), entry('key.announced', thief)], { signer: thief }));
  expect(await found(sealed, { storedKey: sealed.signer.publicKey })).toEqual(['problem key.other']);
  expect(await found(sealed)).toEqual(['problem key.other', 'limit key.none']);
});

test('a log continued with a key that endorsed itself is found with the key of this machine', async () => {
  const sealed = await sealedHome(3);
  const thief = freshSigner();
  forge(sealed.home, (db) =>
    rewrite(db, [...rowsOf(db), selfEndorsed(thief, originIn(db))], { signer: thief }),
  );
  expect(await found(sealed, { storedKey: sealed.signer.publicKey })).toEqual(['problem key.other']);
});

test('a key that appears nowhere in the log is never trusted, wherever it is stored', async () => {
  const sealed = await sealedHome(3);
  const thief = freshSigner();
  forge(sealed.home, (db) => rewrite(db, rowsOf(db).slice(0, 4), { signer: thief }));
  for (const name of ['lifeboat.pub', `lifeboat-${thief.installation}.pub`])
    writeFileSync(join(sealed.home, 'checkpoints', name), thief.publicKey);
  expect(await found(sealed)).toEqual(['problem key.other', 'problem log.cut', 'limit key.none']);
});

test('a log rewritten with another key and its own checkpoints is found with the key of this machine; without it, nothing pins the new key', async () => {
  const sealed = await sealedHome(3);
  rmSync(join(sealed.home, 'checkpoints'), { recursive: true });
  const thief = freshSigner();
  forge(sealed.home, (db) => {
    const kept = rowsOf(db).filter(({ stream }) => stream === 'run/a');
    rewrite(db, [entry('log.begun', thief), ...kept], { signer: thief, origin: 'lifeboat/0123456789abcdef' });
    expect(originIn(db)).toBe('lifeboat/0123456789abcdef');
  });
  expect(await found(sealed, { storedKey: sealed.signer.publicKey })).toEqual([
    'problem key.other',
    'limit place.empty',
  ]);
  expect(await found(sealed)).toEqual(['limit key.none', 'limit place.empty']);
});

test('an installation that only announced itself is reported, and one that a trusted key endorsed counts', async () => {
  const first = await sealedHome(3);
  const second = await joined(first);
  const options = { publicKey: first.signer.publicKey };
  // Nothing that the first one signed covers the entry with which the second one came: in a one-machine store
  // that is a thief's.
  expect(await found(first, options)).toEqual(['problem key.other']);
  expect(await found(first, { ...options, isShared: true })).toEqual(['limit key.unvouched']);
  await endorsed(first, second);
  await joined(first, second);
  expect(await found(first, options)).toEqual([]);
});

test('heads of an announced installation before the last one of a trusted key are a limit that names it', async () => {
  const first = await sealedHome(3);
  const second = await joined(first);
  const again = await openSealed({ home: first.home, signer: first.signer });
  await again.append({ stream: 'run/c', type: 'note', body: null });
  await again.sealer.sealNow();
  await again.close();
  await joined(first, second);
  const report = await auditHome(first, { publicKey: first.signer.publicKey });
  expect(report.verdict).toBe('consistent');
  expect(report.findings[0]?.shortMessage).toContain(
    `heads of installation ${second.installation} (the head of the log, ${join(first.home, 'checkpoints')}) are signed by a key that nobody vouched for`,
  );
});

test('an endorsement counts when a trusted key signed it, also in a chain', async () => {
  const first = await sealedHome(3);
  const second = await joined(first);
  await endorsed(first, second);
  const third = await joined(first);
  await endorsed({ ...first, signer: second }, third);
  await joined(first, third);
  expect(await found(first, { publicKey: first.signer.publicKey })).toEqual([]);
  expect(await found(first, { publicKey: third.publicKey })).toContainEqual(
    expect.stringContaining('limit key.unvouched'),
  );
});
