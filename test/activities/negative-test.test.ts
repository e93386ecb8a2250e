import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityContext } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { negativeTest } from '../../src/activities/verify-backup.ts';
import { encryptor } from '../../src/backup/encryptor.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Keyring } from '../../src/keys/key-store.ts';

const NEW = { fingerprint: 'cccccccccccc', key: new Secret('the-new-key-of-this-test') };
const OLD = { fingerprint: 'aaaaaaaaaaaa', key: new Secret('an-old-key-of-this-test') };

test('every other key is tried, and one that opens the backup is named', async () => {
  expect(await tryOthers([NEW, OLD])).toEqual({ tested: [OLD.fingerprint], opened: [] });
  const twin = { fingerprint: 'dddddddddddd', key: NEW.key };
  expect(await tryOthers([NEW, OLD, twin])).toEqual({
    tested: [OLD.fingerprint, twin.fingerprint],
    opened: [twin.fingerprint],
  });
});

test('the name that this key store itself gives to a key of another one is no other key', async () => {
  const own = { fingerprint: 'eeeeeeeeeeee', key: NEW.key };
  expect(await tryOthers([NEW, OLD, own], own.fingerprint)).toEqual({
    tested: [OLD.fingerprint],
    opened: [],
  });
});

test('a key that is listed but cannot be had is not called tested', async () => {
  const lost = { fingerprint: 'bbbbbbbbbbbb', key: undefined };
  expect(await tryOthers([NEW, OLD, lost])).toEqual({ tested: [OLD.fingerprint], opened: [] });
});

/** Runs the negative test on a backup that was made with the new key. */
async function tryOthers(
  held: readonly { fingerprint: string; key: Secret | undefined }[],
  ownName = NEW.fingerprint,
) {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-negative-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'backup');
  const content = Readable.from([gzipSync('content')]);
  await writeFile(path, await buffer(content.pipe(encryptor({ key: NEW.key, profile: 'md5' }))));
  const keyring: Pick<Keyring, 'list' | 'load' | 'fingerprint'> = {
    fingerprint: async () => ownName,
    list: async () => held.map(({ fingerprint }) => fingerprint),
    load: async (_, wanted) => held.find(({ fingerprint }) => fingerprint === wanted)?.key,
  };
  const activity = negativeTest({ keyring } as ActivityDeps);
  const context = { instance: 'orders' } as ActivityContext;
  const result = await activity.run({ path, except: NEW.fingerprint }, context);
  if (!result.ok) throw new Error(result.failure.shortMessage);
  return result.output;
}
