import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorOfHead, parseAnchor } from '../../src/store/log/anchor.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { forge, rewrite, rowsOf } from './forge.ts';
import { codes, HOME_ONLY, pinned } from './found.ts';
import { auditHome, codesOf, openSealed, type SealedJournal, sealedHome } from './sealed-journal.ts';

describe('times', () => {
  const note = (stream: 'run/a' | 'instance/orders') => ({ stream, type: 'note', body: null }) as const;
  const found = async (sealed: SealedJournal) =>
    codesOf(await auditHome(sealed, pinned(sealed))).filter((code) => code !== HOME_ONLY);
  /** Three entries, and the log's first one, with changed times, signed with the stolen key. */
  const dated = async (times: readonly [string, string, string], type = 'note', body = 'null') => {
    const sealed = await openSealed();
    for (const stream of ['run/a', 'instance/orders', 'run/a'] as const) await sealed.append(note(stream));
    await sealed.close();
    forge(sealed.home, (db) => {
      const rows = rowsOf(db).map((row, at) => ({
        ...row,
        at: `2026-03-01T${times[Math.max(at - 1, 0)]}.000Z`,
      }));
      rewrite(db, rows.with(3, { ...(rows[3] ?? raise()), type, body }), sealed);
    });
    return (await found(sealed)).filter((code) => code !== 'limit place.empty');
  };

  test('that go back by minutes are attributed to several machines', async () => {
    expect(await dated(['10:00:00', '09:56:00', '09:55:00'])).toEqual([]);
  });

  test('that go back by more are back-dated, and reported once for each place', async () => {
    expect(await dated(['10:00:00', '09:54:59', '10:01:00'])).toEqual([
      'problem entry.backdated instance/orders 1',
    ]);
    expect(await dated(['10:00:00', 'yesterday', '10:01:00'])).toContain(
      'problem entry.time instance/orders 1',
    );
  });

  test('that go back by a recorded clock change are not back-dated, even just before its entry', async () => {
    expect(await dated(['10:00:00', '09:00:01', '09:00:01'], 'clock.moved', '{"seconds":-3600}')).toEqual([]);
    expect(await dated(['10:00:00', '10:00:01', '08:00:00'], 'clock.moved', '{"seconds":-3600}')).toEqual([
      'problem entry.backdated run/a 2',
    ]);
  });

  test('that go back with the clock of the machine are noted by the store itself', async () => {
    let now = new Date('2026-03-01T10:00:00Z');
    const sealed = await openSealed({ now: () => now });
    await sealed.append(note('run/a'));
    now = new Date('2026-03-01T09:00:00Z');
    await sealed.append(note('instance/orders'));
    await sealed.append(note('run/a'));
    await sealed.sealer.sealNow();
    const said = await sealed.journal.read('store/log');
    await sealed.close();
    expect(said.map(({ type, body }) => [type, body])).toContainEqual(['clock.moved', { seconds: -3600 }]);
    expect(said).toHaveLength(2);
    expect(await found(sealed)).toEqual([]);
  });
});

describe('an entry after the end of a run', () => {
  const closed = { stream: 'run/a', type: 'run.closed', body: {} } as const;
  test.each(['run.closed', 'run.abandoned', 'clock.moved', 'note'])('is a problem: %s', async (type) => {
    const sealed = await openSealed();
    await sealed.append(closed, { stream: 'run/a', type, body: {} });
    await sealed.sealer.sealNow();
    await sealed.close();
    expect((await codes(sealed)).withKey).toEqual(['problem run.after-end run/a 2']);
  });

  test('is no problem where a process resumes the run while it ends', async () => {
    const sealed = await openSealed();
    await sealed.append(closed, { stream: 'run/a', type: 'run.resumed', body: { pid: 7 } });
    await sealed.sealer.sealNow();
    await sealed.close();
    expect((await codes(sealed)).withKey).toEqual([]);
  });
});

describe('an anchor', () => {
  const anchorNow = async ({ journal }: SealedJournal) => [
    parseAnchor((await anchorOfHead(journal.log)) ?? ''),
  ];

  test('pins the whole store: it reveals a home that was rolled back as a whole, or rewritten', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    const before = temporaryHome();
    cpSync(sealed.home, before, { recursive: true });
    await sealed.append({ stream: 'instance/orders', type: 'note', body: 2 });
    const anchors = await anchorNow(sealed);
    await sealed.append({ stream: 'run/a', type: 'note', body: 3 });
    await sealed.sealer.sealNow();
    await sealed.close();
    expect(codesOf(await auditHome(sealed, { ...pinned(sealed), anchors }))).toEqual(['note anchor.holds']);
    expect(codesOf(await auditHome({ home: before }, { ...pinned(sealed), anchors }))).toEqual([
      'problem anchor.missing',
    ]);
    rmSync(join(sealed.home, 'checkpoints'), { recursive: true });
    forge(sealed.home, (db) =>
      rewrite(
        db,
        rowsOf(db).map((row) => (row.leaf === 1 ? { ...row, body: '2' } : row)),
        sealed,
      ),
    );
    expect(codesOf(await auditHome(sealed, { ...pinned(sealed), anchors }))).toEqual([
      'problem anchor.rewritten',
      'limit place.empty',
    ]);
  });

  test('of another log proves nothing, and is reported', async () => {
    const [sealed, other] = [await sealedHome(3), await openSealed()];
    await other.append({ stream: 'run/a', type: 'note', body: 1 });
    const anchors = await anchorNow(other);
    await other.close();
    expect(codesOf(await auditHome(sealed, { ...pinned(sealed), anchors }))).toEqual([
      'problem anchor.other',
    ]);
  });
});

function raise(): never {
  throw new Error('there is none');
}
