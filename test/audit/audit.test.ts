import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditVerify } from '../../src/audit/audit.ts';
import { anchorOfHead, parseAnchor } from '../../src/store/log/anchor.ts';
import { pathOfSize } from '../../src/store/log/places/place.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { forge, rewrite, rowsOf } from './forge.ts';
import { auditHome, codesOf, openSealed, type SealedJournal, sealedHome } from './sealed-journal.ts';

const HOME_ONLY = 'note home.only';
const pinned = ({ signer }: SealedJournal) => ({ publicKey: signer.publicKey });
/** What is found with the key of this machine, and without any. */
const codes = async (sealed: SealedJournal) => ({
  withKey: codesOf(await auditHome(sealed, { storedKey: sealed.signer.publicKey })).filter(
    (code) => code !== HOME_ONLY,
  ),
  without: codesOf(await auditHome(sealed)),
});
const both = (...found: string[]) => {
  const limits = found.findIndex((code) => code.startsWith('limit'));
  return {
    withKey: found,
    without: found.toSpliced(limits === -1 ? found.length : limits, 0, 'limit key.none'),
  };
};

const checkpoint = ({ home }: Pick<SealedJournal, 'home'>, size: number) => {
  const root = join(home, 'checkpoints');
  const [log = ''] = readdirSync(root).filter((name) => /^[0-9a-f]{16}$/u.test(name));
  return join(root, log, pathOfSize(size));
};

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

  test('is intact under the key of this machine as well, and says what one home alone cannot show', async () => {
    const sealed = await sealedHome(3);
    const report = await auditHome(sealed, { storedKey: sealed.signer.publicKey });
    expect(report.verdict).toBe('intact');
    expect(report.findings.map(({ shortMessage }) => shortMessage)).toEqual([
      'a rollback of this whole home cannot be ruled out: pass --anchor or add a checkpoint folder',
    ]);
  });

  test('is consistent without a key, which it names', async () => {
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

  test('comes of a live journal too, and nothing is changed in it', async () => {
    const sealed = await openSealed();
    onTestFinished(sealed.close);
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    const before = readFileSync(join(sealed.home, 'lifeboat.db'));
    expect(await auditHome(sealed, pinned(sealed))).toMatchObject({ verdict: 'intact', entries: 2 });
    expect(readFileSync(join(sealed.home, 'lifeboat.db')).equals(before)).toBe(true);
    await sealed.append({ stream: 'run/a', type: 'note', body: 2 });
  });

  test('says which leaves are those of a run', async () => {
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

  test('an entry that was changed and hashed anew, with all of the tree', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) =>
      rewrite(
        db,
        rowsOf(db).map((row) => (row.leaf === 4 ? { ...row, body: '{}' } : row)),
      ),
    );
    expect(await codes(sealed)).toEqual(both('problem head.other', 'problem log.rewritten'));
  });

  test('a run that was deleted, and everything closed up behind it', async () => {
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

  test('entries that somebody without the key appended', async () => {
    const sealed = await sealedHome(5);
    forge(sealed.home, (db) => {
      const rows = rowsOf(db);
      rewrite(db, [...rows, { ...(rows.at(-1) ?? raise()), type: 'key.proven' }]);
    });
    expect(await codes(sealed)).toEqual(both('problem log.unsigned'));
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
    cpSync(sealed.home, `${sealed.home}-before`, { recursive: true });
    await sealed.append(...armed);
    await sealed.sealer.sealNow();
    await sealed.close();
    for (const end of ['', '-wal', '-shm']) rmSync(join(sealed.home, `lifeboat.db${end}`), { force: true });
    for (const end of ['', '-wal'])
      cpSync(join(`${sealed.home}-before`, `lifeboat.db${end}`), join(sealed.home, `lifeboat.db${end}`));
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['problem log.cut', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toMatch(
      /the last 4 are gone; what was armed in them: restoreBackup on orders/u,
    );
  });
});

describe('checkpoints', () => {
  test('that the store remembers and nobody has are a problem', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    await sealed.append({ stream: 'run/a', type: 'note', body: 2 });
    await sealed.close();
    rmSync(join(sealed.home, 'checkpoints'), { recursive: true });
    expect(await codes(sealed)).toEqual(both('problem checkpoint.missing', 'limit place.empty'));
  });

  test('that a call demanded which went on are a problem, also where the store does not remember them', async () => {
    const sealed = await openSealed();
    await sealed.append(...armed, outcome('landed'));
    await sealed.close();
    const report = await auditHome(sealed, pinned(sealed));
    expect(codesOf(report)).toEqual(['problem checkpoint.missing run/a 4', 'limit place.empty', HOME_ONLY]);
    expect(report.findings[0]?.shortMessage).toContain('a checkpoint followed entry 4 of run/a');
  });

  test.each(['absent'])('are not demanded by a call that was armed and never sent', async (sent) => {
    const sealed = await openSealed();
    await sealed.append(...armed, outcome(sent));
    await sealed.close();
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual(['limit place.empty', HOME_ONLY]);
  });

  test('that the close of a run demands are a limit at the end of the log, and a problem once another process went on', async () => {
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

  test('in the home of a log that is gone are told', async () => {
    const sealed = await sealedHome(3);
    const other = await sealedHome(3);
    cpSync(join(other.home, 'checkpoints'), join(sealed.home, 'checkpoints'), { recursive: true });
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toEqual(['limit log.other', HOME_ONLY]);
    forge(sealed.home, (db) => db.exec('DELETE FROM entries; DELETE FROM heads'));
    expect(codesOf(await auditHome(sealed, pinned(sealed)))).toContain('problem log.gone');
  });

  test('which a person has accepted not to fit are a limit that says who did and why', async () => {
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

describe('times', () => {
  const note = (stream: 'run/a' | 'instance/orders') => ({ stream, type: 'note', body: null }) as const;
  const found = async (sealed: SealedJournal) =>
    codesOf(await auditHome(sealed, pinned(sealed))).filter((code) => code !== HOME_ONLY);
  /**
   * Three entries, and the log's first one, with other times than they had, signed by somebody who has got
   * the key.
   */
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

  test('that go back by minutes are those of several machines', async () => {
    expect(await dated(['10:00:00', '09:56:00', '09:55:00'])).toEqual([]);
  });

  test('that go back by more are back-dated, once where they do', async () => {
    expect(await dated(['10:00:00', '09:54:59', '10:01:00'])).toEqual([
      'problem entry.backdated instance/orders 1',
    ]);
    expect(await dated(['10:00:00', 'yesterday', '10:01:00'])).toContain(
      'problem entry.time instance/orders 1',
    );
  });

  test('that go back by what an entry says of a clock are none, also just before it says so', async () => {
    expect(await dated(['10:00:00', '09:00:01', '09:00:01'], 'clock.moved', '{"seconds":-3600}')).toEqual([]);
    expect(await dated(['10:00:00', '10:00:01', '08:00:00'], 'clock.moved', '{"seconds":-3600}')).toEqual([
      'problem entry.backdated run/a 2',
    ]);
  });

  test('that go back because the clock of the machine did are noted by the store itself', async () => {
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

describe('what follows the end of a run', () => {
  const closed = { stream: 'run/a', type: 'run.closed', body: {} } as const;
  test.each(['run.closed', 'run.abandoned', 'clock.moved', 'note'])('is a problem: %s', async (type) => {
    const sealed = await openSealed();
    await sealed.append(closed, { stream: 'run/a', type, body: {} });
    await sealed.sealer.sealNow();
    await sealed.close();
    expect((await codes(sealed)).withKey).toEqual(['problem run.after-end run/a 2']);
  });

  test('is none where a process takes the run up while it ends', async () => {
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

  test('pins the whole store: it betrays a home that was rolled back as a whole, and one that was written anew', async () => {
    const sealed = await openSealed();
    await sealed.append({ stream: 'run/a', type: 'note', body: 1 });
    await sealed.sealer.sealNow();
    const before = `${sealed.home}-before`;
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

  test('of another log proves nothing, and is told', async () => {
    const [sealed, other] = [await sealedHome(3), await openSealed()];
    await other.append({ stream: 'run/a', type: 'note', body: 1 });
    const anchors = await anchorNow(other);
    await other.close();
    expect(codesOf(await auditHome(sealed, { ...pinned(sealed), anchors }))).toEqual([
      'problem anchor.other',
    ]);
  });
});

const mark = { intent: 'i1', verb: 'restoreBackup' };
const armed = [
  runEntry('a', 'run.started', {
    ...{
      runbook: 'restore-backup',
      version: '1',
      instance: 'orders',
      input: {},
      mode: 'LIVE',
      operator: 'Robin',
    },
    tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
  }),
  runEntry('a', 'activity.begun', {
    activity: 'restore',
    verb: mark.verb,
    kind: 'once',
    key: 'i1',
    input: mark,
  }),
  runEntry('a', 'intent.prepared', { ...mark, baseline: null }),
  runEntry('a', 'intent.armed', mark),
];
const outcome = (sent: string) =>
  ({ stream: 'run/a', type: 'intent.outcome', body: { intent: 'i1', verb: 'restoreBackup', sent } }) as const;

function raise(): never {
  throw new Error('there is none');
}
