import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditVerify } from '../../src/audit/audit.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { armed } from './armed.ts';
import { forge, rewrite, rowsOf } from './forge.ts';
import { both, codes, HOME_ONLY, pinned } from './found.ts';
import { auditHome, codesOf, openSealed, sealedHome } from './sealed-journal.ts';

describe('the verdict', () => {
  test('is intact under the pinned key, up to the newest checkpoint of each place, which it names', async () => {
    const folder = temporaryHome();
    const sealed = await sealedHome(20, [folder]);
    const report = await auditHome(sealed, pinned(sealed));
    expect(report).toMatchObject({ verdict: 'intact', entries: 41, streams: 3, findings: [] });
    const at = expect.stringMatching(/^\d{4}-.*Z$/u);
    expect(report.pins).toEqual([
      { place: join(sealed.home, 'checkpoints'), size: 41, at },
      { place: folder, size: 41, at },
    ]);
  });

  test('is also intact under the key of this machine, and says what one home alone cannot show', async () => {
    const sealed = await sealedHome(3);
    const report = await auditHome(sealed, { storedKey: sealed.signer.publicKey });
    expect(report.verdict).toBe('intact');
    expect(report.findings.map(({ shortMessage }) => shortMessage)).toEqual([
      'a rollback of this whole home cannot be ruled out: pass --anchor or add a checkpoint folder',
    ]);
  });

  test('is not changed by work without the folder of a team, and a note gives the reason', async () => {
    const sealed = await openSealed();
    const body = { reason: 'the mount is down', lack: 'it cannot be read' };
    await sealed.append({ stream: 'store/log', type: 'alone.accepted', body });
    await sealed.sealer.sealNow();
    await sealed.close();
    const report = await auditHome(sealed, pinned(sealed));
    expect(report.verdict).toBe('intact');
    const shortMessage = expect.stringMatching(/ UTC: the mount is down$/u);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ severity: 'note', code: 'alone.accepted', shortMessage }),
    );
  });

  test('is consistent without a key, and names the installation whose key is missing', async () => {
    const sealed = await sealedHome(3);
    const report = await auditHome(sealed);
    expect(report.verdict).toBe('consistent');
    expect(report.findings[0]).toMatchObject({ severity: 'limit', code: 'key.none' });
    expect(report.findings[0]?.shortMessage).toContain(sealed.signer.installation);
  });

  test('is consistent where a place has nothing, or cannot be read', async () => {
    const sealed = await sealedHome(3);
    const [empty, file] = [temporaryHome(), join(temporaryHome(), 'file')];
    mkdirSync(empty, { recursive: true });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    const report = await auditHome({ ...sealed, folders: [empty, file] }, pinned(sealed));
    expect(report.verdict).toBe('consistent');
    expect(codesOf(report)).toEqual(['limit place.unread', 'limit place.empty', HOME_ONLY]);
  });

  test('is consistent where no checkpoint was written yet', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.close();
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual(['limit place.empty', HOME_ONLY]);
  });

  test('is not intact where there is nothing to verify', async () => {
    const report = await auditVerify({ log: undefined, places: [], transcriptOf: () => undefined });
    expect(report).toMatchObject({ verdict: 'not-intact', entries: 0 });
  });

  test('can be given for a live journal too, and changes nothing in it', async () => {
    const sealed = await openSealed();
    onTestFinished(sealed.close);
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    const before = readFileSync(join(sealed.home, 'lifeboat.db'));
    expect(await auditHome(sealed, pinned(sealed))).toMatchObject({ verdict: 'intact', entries: 2 });
    expect(readFileSync(join(sealed.home, 'lifeboat.db')).equals(before)).toBe(true);
    await sealed.append({ stream: 'run/a', type: 'note', body: 2 });
  });

  test('says which leaves belong to a run', async () => {
    const sealed = await sealedHome(3);
    const { run } = await auditHome(sealed, { stream: 'run/a' });
    expect(run).toEqual({
      stream: 'run/a',
      leaves: [
        [1, 1],
        [3, 3],
        [5, 5],
      ],
    });
  });
});

describe('with the key on this machine and without it, an audit finds', () => {
  test('an entry that was changed', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => db.exec("UPDATE entries SET body = '{}' WHERE leaf = 4"));
    expect(await codes(sealed)).toEqual(both('problem entry.changed instance/orders 2'));
  });

  test('an entry that was changed and hashed again, with the whole tree', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) =>
      rewrite(
        db,
        rowsOf(db).map((row) => (row.leaf === 4 ? { ...row, body: '{}' } : row)),
      ),
    );
    expect(await codes(sealed)).toEqual(both('problem head.other', 'problem log.rewritten'));
  });

  test('a run that was deleted, with the rest closed up behind it', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) =>
      rewrite(
        db,
        rowsOf(db).filter(({ stream }) => stream !== 'run/a'),
      ),
    );
    expect(await codes(sealed)).toEqual(both('problem log.cut', 'problem log.cut'));
  });

  test('a node of the tree that was changed', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => db.exec('UPDATE entries SET tree = zeroblob(32) WHERE leaf = 1'));
    expect(await codes(sealed)).toEqual(both('problem tree.changed run/a 1'));
  });

  test('entries appended without the key', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => {
      const rows = rowsOf(db);
      rewrite(db, [...rows, { ...(rows.at(-1) ?? raise()), type: 'key.proven' }]);
    });
    expect(await codes(sealed)).toEqual(both('problem log.unsigned'));
  });

  test('entries removed from the middle, without calling them the last ones', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => db.exec('DELETE FROM entries WHERE leaf IN (3, 4)'));
    const { findings } = await auditHome(sealed, pinned(sealed));
    expect(findings.map(({ shortMessage }) => shortMessage)).toContainEqual(
      expect.stringMatching(/ has a checkpoint of 11 entries, and 9 are here: 2 of them are gone$/u),
    );
  });

  test('a head that is gone', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => db.exec('DELETE FROM heads'));
    expect(await codes(sealed)).toEqual(both('problem head.missing'));
  });

  test('a database that was rolled back, by the checkpoints, with the calls that were armed in what is lost', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'instance/orders', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    const before = temporaryHome();
    cpSync(sealed.home, before, { recursive: true });
    await sealed.append(...armed);
    await sealed.sealer.sealNow();
    await sealed.close();
    for (const end of ['', '-wal', '-shm']) rmSync(join(sealed.home, `lifeboat.db${end}`), { force: true });
    for (const end of ['', '-wal'])
      cpSync(join(before, `lifeboat.db${end}`), join(sealed.home, `lifeboat.db${end}`));
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['problem log.cut', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toMatch(
      /the last 4 are gone; what was armed in them: restoreBackup on orders/u,
    );
  });
});

function raise(): never {
  throw new Error('there is none');
}
