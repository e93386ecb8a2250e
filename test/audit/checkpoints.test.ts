import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkLog } from '../../src/store/log/check-log.ts';
import { homePlace, pathOfSize } from '../../src/store/log/places/folder-place.ts';
import { armed, outcome } from './armed.ts';
import { forge, rewrite, rowsOf } from './forge.ts';
import { both, codes, HOME_ONLY, pinned } from './found.ts';
import { auditHome, codesOf, openSealed, type SealedJournal, sealedHome } from './sealed-journal.ts';

const checkpoint = ({ home }: Pick<SealedJournal, 'home'>, size: number) => {
  const root = join(home, 'checkpoints');
  const [log = ''] = readdirSync(root).filter((name) => /^[0-9a-f]{16}$/u.test(name));
  return join(root, log, pathOfSize(size));
};

describe('checkpoints', () => {
  test('that the store remembers and that no place has are a problem', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    await sealed.append({ stream: 'run/a', type: 'note', body: 2 });
    await sealed.close();
    rmSync(join(sealed.home, 'checkpoints'), { recursive: true });
    expect(await codes(sealed)).toEqual(both('problem checkpoint.missing', 'limit place.empty'));
  });

  test('that a completed call required are a problem, even if the store does not remember them', async () => {
    const sealed = await openSealed();
    await sealed.append(...armed, outcome('landed'));
    await sealed.close();
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['problem checkpoint.missing run/a 4', 'limit place.empty', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toContain('a checkpoint followed entry 4 of run/a');
  });

  test('that a call required may be elsewhere, if others write to the store too and nothing was ever signed here', async () => {
    const sealed = await openSealed();
    await sealed.append(...armed, outcome('landed'));
    await sealed.close();
    expect(codesOf(await auditHome(sealed, { ...pinned(sealed), isShared: true }))).toEqual([
      'limit place.empty',
      'limit checkpoint.elsewhere',
      HOME_ONLY,
    ]);
  });

  test('beyond the end of a store that was moved are a limit, and do not indicate a rollback', async () => {
    const sealed = await openSealed();
    const { append, sealer, journal } = sealed;
    await append({ stream: 'run/a', type: 'note', body: 1 });
    const moved = { stream: 'store/log', type: 'store.moved', body: { to: 'postgres:///team' } } as const;
    await append(moved);
    await sealer.sealNow();
    const { origin = '', head } = { origin: await journal.log.origin(), head: await journal.log.head() };
    const next = { origin, size: head.size + 1, root: 'ab'.repeat(32), armed: [] };
    const folder = join(checkpoint(sealed, head.size), '..');
    writeFileSync(join(folder, `00${next.size}`), sealed.signer.sign(next), { mode: 0o600 });
    const checked = await checkLog(journal, [homePlace(sealed.home)], { ownKey: sealed.signer.publicKey });
    expect(checked).toMatchObject({ trouble: undefined, warnings: [] });
    await journal.close();
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['limit log.moved', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toContain('moved to postgres:///team');
  });

  test.each(['absent'])('are not required by a call that was armed and never sent', async (sent) => {
    const sealed = await openSealed();
    await sealed.append(...armed, outcome(sent));
    await sealed.close();
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual(['limit place.empty', HOME_ONLY]);
  });

  test('that the close of a run requires are a limit at the end of the log, and a problem once another process continued', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'run.closed', body: {} });
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual([
      'limit place.empty',
      'limit checkpoint.late run/a 1',
      HOME_ONLY,
    ]);
    await sealed.append({ stream: 'run/b', type: 'run.started', body: {} });
    await sealed.close();
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual([
      'problem checkpoint.missing run/a 1',
      'limit place.empty',
      HOME_ONLY,
    ]);
  });

  test('that are damaged, unsigned, or under the name of another size are problems', async () => {
    const sealed = await openSealed();
    for (const body of [1, 2, 3]) {
      await sealed.append({ stream: 'run/a', type: 'note', body });
      await sealed.sealer.sealNow();
    }
    await sealed.close();
    const whole = readFileSync(checkpoint(sealed, 3), 'utf8');
    const found = async () => (await codes(sealed)).withKey;
    writeFileSync(checkpoint(sealed, 3), whole.slice(0, 60));
    expect(await found()).toEqual(['problem checkpoint.unreadable']);
    writeFileSync(checkpoint(sealed, 3), whole.replace('\n3\n', '\n4\n'));
    expect(await found()).toEqual(['problem checkpoint.bad-signature']);
    writeFileSync(checkpoint(sealed, 3), readFileSync(checkpoint(sealed, 2)));
    expect(await found()).toEqual(['problem checkpoint.misplaced']);
    writeFileSync(checkpoint(sealed, 3), whole);
    expect(await found()).toEqual([]);
    rmSync(checkpoint(sealed, 4));
    expect(await found()).toEqual([]);
  });

  test('in the home of a log that is gone are findings', async () => {
    const sealed = await sealedHome(3);
    const other = await sealedHome(3);
    cpSync(join(other.home, 'checkpoints'), join(sealed.home, 'checkpoints'), { recursive: true });
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual(['limit log.other', HOME_ONLY]);
    forge(sealed.home, (db) => db.exec('DELETE FROM entries; DELETE FROM heads'));
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toContain('problem log.gone');
  });

  test('that do not fit, as a person has accepted, are a limit that says who accepted it and why', async () => {
    const sealed = await sealedHome(3);
    const note = readFileSync(checkpoint(sealed, 7), 'utf8');
    forge(sealed.home, (db) => {
      const rows = rowsOf(db).slice(0, 5);
      const loss = {
        reason: 'the disk broke',
        size: 5,
        checkpoints: [{ place: 'home', size: 7, root: 'x', note }],
        calls: [],
      };
      const body = JSON.stringify({ calls: [], checkpoints: loss.checkpoints, reason: loss.reason, size: 5 });
      const last = rows.at(-1) ?? raise();
      rewrite(
        db,
        [
          ...rows,
          {
            ...last,
            stream: 'store/log',
            type: 'loss.accepted',
            by: 'Ada',
            body: body
              .replace('{"place":"home","size":7,"root":"x","note":', '{"note":')
              .replace(/("note":"(?:[^"\\]|\\.)*")\}/u, '$1,"place":"home","root":"x","size":7}')
              .replaceAll('\u2014', '\\u2014'),
          },
        ],
        sealed,
      );
    });
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['limit loss.accepted store/log', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toMatch(/the disk broke \(Ada, /u);
  });
});

function raise(): never {
  throw new Error('there is none');
}
