import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { type KeptFit, tryFit } from '../../src/compose/try-fit.ts';
import { foldLedger } from '../../src/store/projections/ledgers.ts';
import type { ListedBackup } from '../../src/view/fleet/status-schema.ts';
import { backupOf, KEY, noise } from '../backup/kit.ts';

const RIGHT = { fingerprint: 'aaaaaaaaaaaa', key: KEY };
const WRONG = { fingerprint: 'bbbbbbbbbbbb', key: new Secret('another-key-of-this-test') };
const backup = (id: number): ListedBackup => ({
  id,
  backupId: `g-${id}`,
  triggeredAt: `2026-03-0${id}T00:00:00Z`,
});
const DONE = [backup(4), backup(3), backup(2), backup(1)];

interface Given {
  readonly keys: readonly (typeof RIGHT)[];
  readonly done?: readonly ListedBackup[];
  readonly entries?: readonly object[];
  readonly kept?: readonly KeptFit[];
  readonly content?: Uint8Array;
}

/** Tries the keys on a service that has one file for every backup, and tells what it was asked for. */
async function tried({ keys, done = DONE, entries = [], kept = [], content }: Given) {
  const file = content ?? (await backupOf(noise(3_000_000)));
  const asked: number[] = [];
  const streams: Readable[] = [];
  let sent = 0;
  const service = {
    download: async (id: number) => {
      asked.push(id);
      const stream = Readable.from(
        (function* () {
          for (let at = 0; at < file.length; at += 16) {
            sent += 16;
            yield file.subarray(at, at + 16);
          }
        })(),
        { highWaterMark: 1 },
      );
      streams.push(stream);
      return { stream } as never;
    },
  };
  const ledger = foldLedger(
    entries.map((entry, at) => ({ seq: at + 1, at: '2026-03-09T00:00:00Z', ...entry }) as never),
  );
  const record = { ledger, openRuns: [], inDoubt: [], followUps: [] };
  const held = keys.map(({ fingerprint }) => fingerprint);
  const { signal } = new AbortController();
  const fits = await tryFit({ service, done, record, held, load: async () => keys, kept, signal });
  expect(streams.every(({ destroyed }) => destroyed)).toBe(true);
  return { fits, asked, sent };
}

const fitOf = (id: number, more: Partial<KeptFit>) => ({ ...backup(id), tried: [], ...more });

describe('the first block of a backup', () => {
  test('says which held key opens it, and no more of the download is read', async () => {
    const { fits, asked, sent } = await tried({ keys: [WRONG, RIGHT] });
    expect(fits).toEqual([
      fitOf(4, { key: RIGHT.fingerprint, tried: [WRONG.fingerprint, RIGHT.fingerprint] }),
    ]);
    expect(asked).toEqual([4]);
    expect(sent).toBeLessThan(200);
  });

  test('is read of at most three backups if no key opens them', async () => {
    const { fits, asked } = await tried({ keys: [WRONG] });
    expect(asked).toEqual([4, 3, 2]);
    expect(fits).toEqual([4, 3, 2].map((id) => fitOf(id, { tried: [WRONG.fingerprint] })));
  });

  test('is not requested again where an earlier look with the same keys has a result', async () => {
    const kept = [fitOf(4, { tried: [WRONG.fingerprint] }), fitOf(3, { key: RIGHT.fingerprint })];
    expect((await tried({ keys: [WRONG], kept: kept.slice(0, 1), done: DONE.slice(0, 1) })).asked).toEqual(
      [],
    );
    expect((await tried({ keys: [RIGHT], kept })).asked).toEqual([4]);
  });

  test('is requested again for a backup that has the id of an earlier one', async () => {
    const kept = [{ ...fitOf(4, { key: RIGHT.fingerprint }), backupId: 'another' }];
    expect((await tried({ keys: [RIGHT], kept })).asked).toEqual([4]);
  });

  test('is not needed where a newer proof is on record, or where a try with these keys failed', async () => {
    const proof = {
      type: 'key.proven',
      body: {
        ...{
          fingerprint: RIGHT.fingerprint,
          run: 'R',
          verdict: 'readable',
          cipherSha256: '0',
          negative: 'refused',
        },
        backup: { id: 3, backup_id: 'g-3' },
      },
    };
    const failed = {
      type: 'backup.unopened',
      body: { run: 'R', backup: { id: 4 }, code: 'backup.wrong-key', tried: [RIGHT.fingerprint] },
    };
    expect((await tried({ keys: [RIGHT], entries: [proof, failed] })).asked).toEqual([]);
    expect((await tried({ keys: [RIGHT, WRONG], entries: [proof, failed] })).asked).toEqual([4]);
  });

  test('is not requested for a backup that cannot be downloaded, or without a key', async () => {
    const done = [{ ...backup(4), downloadable: false }, backup(3)];
    expect((await tried({ keys: [RIGHT], done })).asked).toEqual([3]);
    expect((await tried({ keys: [] })).asked).toEqual([]);
  });

  test('of a file that is not encrypted gives an error that says what it is', async () => {
    const content = Buffer.from([0x1f, 0x8b, 8, 0, ...new Array(60).fill(0)]);
    await expect(tried({ keys: [RIGHT], content })).rejects.toMatchObject({
      code: 'backup.not-encrypted',
      shortMessage: 'backup 4 is not encrypted: it begins as gzip',
    });
  });
});
