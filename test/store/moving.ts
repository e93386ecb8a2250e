import { describe, expect, onTestFinished, test } from 'vitest';
import { generateReceiptKey } from '../../src/keys/keyring.ts';
import {
  isKeyNamed,
  keyEntry,
  keyHash,
  receiptEntry,
  receiptKeysIn,
  receiptsIn,
} from '../../src/receipts/log-entries.ts';
import { receiptPublicKey } from '../../src/receipts/sigstore-bundle.ts';
import type { Journal, NewEntry } from '../../src/store/journal.ts';
import { readCheckpoint } from '../../src/store/log/checkpoint.ts';
import { STORE_MOVED } from '../../src/store/log/log-entries.ts';
import { hearLog, NOTHING_SAID, parsePublicKeys } from '../../src/store/log/named-keys.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { type Arrival, type MovedFrom, rootOfEntries } from '../../src/store/moving.ts';
import { landInSqlite, movedFromSqlite } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from './fresh-signer.ts';
import { temporaryHome } from './temporary-home.ts';

/** A store of one engine that takes part in a move. */
export interface MovableStore {
  open(signer: Signer): Promise<Journal>;
  from(): Promise<MovedFrom & { close(): Promise<void> }>;
  land(from: MovedFrom, arrival: Arrival): Promise<void>;
}

/** The promises of every engine about moves from and to every other. */
export function movingContract(
  name: string,
  fresh: () => Promise<{ readonly source: MovableStore; readonly target: MovableStore }>,
): void {
  const signer = freshSigner();
  const arrival = { at: '2026-03-01T00:00:00.000Z', by: 'Robin', signer, body: { from: 'there' } };

  const writer = async (store: MovableStore, by = signer) => {
    const journal = await store.open(by);
    onTestFinished(() => journal.close());
    return journal;
  };
  const fill = async (journal: Journal, count: number, stream: NewEntry['stream'] = 'run/a') => {
    const hold = await journal.hold(stream);
    try {
      const notes = Array.from({ length: count }, (_, at) => ({
        stream,
        type: 'note',
        body: { text: `é${at}` },
      }));
      for (let at = 0; at < count; at += 50) await journal.append(notes.slice(at, at + 50), [hold]);
    } finally {
      await hold.release();
    }
  };
  const leave = (journal: Journal, to: string) =>
    journal.append([{ stream: 'store/log', type: STORE_MOVED, body: { to } }], []);
  const move = async (source: MovableStore, target: MovableStore) => {
    const from = await source.from();
    try {
      await target.land(from, arrival);
    } finally {
      await from.close();
    }
  };
  const leavesOf = (journal: Journal) => Array.fromAsync(journal.log.stored());
  const headsOf = async (store: MovableStore) => {
    const from = await store.from();
    const heads = await Array.fromAsync(from.heads(0));
    await from.close();
    return heads;
  };

  describe(`${name}`, () => {
    test('leaves, hashes, heads and name of the log stay the same in a move, and the log continues after them', async () => {
      const { source, target } = await fresh();
      const one = await writer(source);
      await fill(one, 1_100);
      await leave(one, 'the other');
      await move(source, target);
      const two = await writer(target);
      const [before, after] = [await leavesOf(one), await leavesOf(two)];
      expect(after.slice(0, -1)).toEqual(before);
      expect(after.at(-1)).toMatchObject({ type: 'store.arrived', stream: 'store/log', seq: 3 });
      expect((await headsOf(target)).slice(0, -1)).toEqual(await headsOf(source));
      expect(await two.log.origin()).toBe(await one.log.origin());
      const { size, root } = await one.log.head();
      expect(await two.log.rootAt(size)).toBe(root);
      expect(await rootOfEntries(two.log.stored(), size)).toBe(root);
      const { note } = await two.log.head();
      const said = hearLog(NOTHING_SAID, await two.read('store/log'));
      expect(readCheckpoint(note ?? '', [...said.keys.values()])).toMatchObject({
        result: 'signed',
        checkpoint: { size: size + 1, root: await two.log.rootAt(size + 1) },
      });
      await fill(two, 2, 'run/b');
      expect(await two.log.count()).toBe(size + 3);
    });

    test('a key for which the log vouches is vouched for after a move, and its receipt is still on record', async () => {
      const { source, target } = await fresh();
      const one = await writer(source);
      const key = receiptPublicKey(generateReceiptKey());
      const made = { run: '01A', result: 'PASSED', sha256: 'ab'.repeat(32), key: keyHash(key) } as const;
      await one.append([receiptEntry(made)], []);
      const origin = await one.log.origin();
      await one.append([keyEntry(key, origin ?? '', signer)], []);
      await leave(one, 'the other');
      await move(source, target);
      const two = await writer(target);
      const entries = await two.read('store/log');
      expect(receiptsIn(entries)).toMatchObject([made]);
      const believed = parsePublicKeys(signer.publicKey);
      const named = receiptKeysIn(entries, await two.log.origin(), believed);
      expect(named.get(made.key)).toMatchObject({ endorsement: 'signed' });
      expect(isKeyNamed(entries, key)).toBe(true);
    });

    test('a moved store accepts nothing more, from processes that have it open or that open it', async () => {
      const { source, target } = await fresh();
      const one = await writer(source);
      const other = await writer(source);
      await fill(one, 1);
      const hold = await other.hold('run/b');
      await leave(one, 'the other');
      const refused = {
        code: 'journal.moved',
        exitCode: 2,
        shortMessage: expect.stringContaining('the other'),
      };
      const entry = { stream: 'run/b', type: 'note', body: {} } as const;
      await expect(other.append([entry], [hold])).rejects.toMatchObject(refused);
      await expect(leave(one, 'elsewhere')).rejects.toMatchObject(refused);
      await move(source, target);
      await expect(fill(await writer(source), 1)).rejects.toMatchObject(refused);
      await expect(fill(await writer(source, freshSigner()), 1)).rejects.toMatchObject(refused);
      expect(await (await writer(source)).log.count()).toBe(3);
    });

    test('moving back adds only what was written since', async () => {
      const { source, target } = await fresh();
      const one = await writer(source);
      await fill(one, 3);
      await leave(one, 'the other');
      await move(source, target);
      const two = await writer(target);
      await fill(two, 3, 'run/b');
      await leave(two, 'the first');
      await move(target, source);
      await fill(one, 1, 'run/c');
      expect((await leavesOf(one)).slice(0, await two.log.count())).toEqual(await leavesOf(two));
      await expect(fill(two, 1)).rejects.toMatchObject({ code: 'journal.moved' });
    });

    test('nothing is written over a non-empty store, and a failed move leaves nothing', async () => {
      const { source, target } = await fresh();
      const one = await writer(source);
      await fill(one, 2);
      await expect(move(source, target)).rejects.toMatchObject({ code: 'journal.damaged' });
      await leave(one, 'the other');
      const from = await source.from();
      const changed: MovedFrom = {
        ...from,
        async *stored(first) {
          for await (const stored of from.stored(first))
            yield { ...stored, by: stored.index === 1 ? 'Eve' : stored.by };
        },
      };
      await expect(target.land(changed, arrival)).rejects.toMatchObject({ code: 'journal.damaged' });
      await from.close();
      const two = await writer(target);
      expect(await two.log.count()).toBe(0);
      await fill(two, 1);
      await expect(move(source, target)).rejects.toMatchObject({ code: 'store.not-empty', exitCode: 2 });
    });
  });
}

/** A store of SQLite in a home of its own. */
export function sqliteStore(): MovableStore {
  const home = temporaryHome();
  return {
    open: (signer) => openSqliteStore({ home, by: 'Robin', signer, projections: [] }),
    from: () => movedFromSqlite(home),
    land: (from, arrival) => landInSqlite({ home, projections: [] }, from, arrival),
  };
}
