import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProvenBackup } from '../../machines/parts/recovery-data.ts';
import type { ActivityContext } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { negativeTest, verifyBackup } from '../../src/activities/verify-backup.ts';
import { encryptor } from '../../src/backup/encryptor.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Keyring } from '../../src/keys/key-store.ts';
import { foldLedger } from '../../src/store/projections/ledgers.ts';

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

test('the name that this key store gives to a key of another store does not count as another key', async () => {
  const own = { fingerprint: 'eeeeeeeeeeee', key: NEW.key };
  expect(await tryOthers([NEW, OLD, own], own.fingerprint)).toEqual({
    tested: [OLD.fingerprint],
    opened: [],
  });
});

test('a key that is listed but cannot be loaded is not called tested', async () => {
  const lost = { fingerprint: 'bbbbbbbbbbbb', key: undefined };
  expect(await tryOthers([NEW, OLD, lost])).toEqual({ tested: [OLD.fingerprint], opened: [] });
});

test('a backup to be recorded is recorded with the key that opened it, at once', async () => {
  const record = { id: 7, backupId: 'B-7', status: 'done', triggeredAt: '2026-03-01T02:00:00Z' };
  const read = async (input: object) => {
    const { deps, path, context } = await backupWith([OLD, NEW]);
    const result = await verifyBackup(deps).run({ path, backup: 7, ...input }, context);
    return result.ledger?.map(({ type, body }) => [type, body]);
  };
  expect(await read({})).toEqual([]);
  expect(await read({ record })).toEqual([
    [
      'key.proven',
      expect.objectContaining({
        fingerprint: NEW.fingerprint,
        run: 'R',
        backup: { id: 7, backup_id: 'B-7', triggered_at: record.triggeredAt },
        verdict: 'intact',
        negative: 'not-applicable',
        contentBytes: 9,
        cipherBytes: expect.any(Number),
      }),
    ],
  ]);
});

test('a discarded backup is kept until the result is on record, in case the process dies before that', async () => {
  const { deps, path, context } = await backupWith([NEW]);
  const result = await verifyBackup(deps).run({ path, backup: 7, discard: true }, context);
  expect(result.ok).toBe(true);
  expect(existsSync(path)).toBe(true);
  await (result as { readonly recorded?: () => Promise<void> }).recorded?.();
  expect(existsSync(path)).toBe(false);
});

describe('a backup that cannot be proven is recorded as such', () => {
  const verified = async (held: readonly Held[], text?: string) => {
    const { deps, path, context } = await backupWith(held, undefined, text === undefined ? {} : { text });
    const { ok, ledger } = await verifyBackup(deps).run({ path, backup: 9 }, context);
    return { ok, ledger };
  };

  test('if no held key opens it, with the keys that were tried', async () => {
    expect(await verified([OLD])).toEqual({
      ok: false,
      ledger: [
        {
          type: 'backup.unopened',
          body: { run: 'R', backup: { id: 9 }, tried: [OLD.fingerprint], code: 'backup.wrong-key' },
        },
      ],
    });
  });

  test('if the key opens it and it holds no data', async () => {
    const { ok, ledger } = await verified([NEW], 'pg_dump: error');
    expect(ok).toBe(false);
    expect(ledger?.[0]?.body).toMatchObject({ backup: { id: 9 }, code: 'backup.empty' });
  });
});

describe('a backup that holds less than half of the last proven one', () => {
  const before = { id: 7, provenAt: '2026-03-01T02:00:00Z', fingerprint: OLD.fingerprint, contentBytes: 19 };
  const read = async (proven: readonly ProvenBackup[], input: object = {}) => {
    const { deps, path, context } = await backupWith([NEW], undefined, { proven });
    return await verifyBackup(deps).run({ path, backup: 9, ...input }, context);
  };

  test('is reported, with the one it is compared to', async () => {
    const shrunk = { output: { contentBytes: 9, shrunkFrom: { id: 7, contentBytes: 19 } } };
    expect(await read([before])).toMatchObject({ ok: true, ...shrunk });
  });

  test('is not automatically recorded as proven', async () => {
    const record = { id: 9, status: 'done' };
    expect(await read([before], { record })).toMatchObject({
      ok: false,
      failure: { code: 'backup.much-smaller' },
    });
  });

  test('but not one of half its size, one compared with itself, or one of unknown size', async () => {
    for (const proven of [
      [{ ...before, contentBytes: 18 }],
      [{ ...before, id: 9 }],
      [{ id: 7, provenAt: before.provenAt, fingerprint: before.fingerprint }],
      [],
    ])
      expect((await read(proven)) as object).not.toHaveProperty('output.shrunkFrom');
  });
});

/** Runs the negative test on a backup that was made with the new key. */
async function tryOthers(held: readonly Held[], ownName = NEW.fingerprint) {
  const { deps, path, context } = await backupWith(held, ownName);
  const result = await negativeTest(deps).run({ path, except: NEW.fingerprint }, context);
  if (!result.ok) throw new Error(result.failure.shortMessage);
  return result.output;
}

interface Held {
  readonly fingerprint: string;
  readonly key: Secret | undefined;
}

/** A backup made with the new key, and a key store that holds those keys. */
async function backupWith(
  held: readonly Held[],
  ownName = NEW.fingerprint,
  {
    text = 'select 1;',
    proven = [],
  }: { readonly text?: string; readonly proven?: readonly ProvenBackup[] } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-negative-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'backup');
  const content = Readable.from([gzipSync(text)]);
  await writeFile(path, await buffer(content.pipe(encryptor({ key: NEW.key, profile: 'md5' }))));
  const keyring: Pick<Keyring, 'list' | 'load' | 'fingerprint'> = {
    fingerprint: async () => ownName,
    list: async () => held.map(({ fingerprint }) => fingerprint),
    load: async (_, wanted) => held.find(({ fingerprint }) => fingerprint === wanted)?.key,
  };
  const ledger = async () => ({ ...foldLedger([]), proven });
  const context = { instance: 'orders', runId: 'R', now: () => new Date(0), report: () => undefined };
  return {
    deps: { keyring, ledger } as unknown as ActivityDeps,
    path,
    context: context as unknown as ActivityContext,
  };
}
