import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { canonicalBody } from '../../src/store/canonical.ts';
import type { LeafFields } from '../../src/store/journal.ts';
import { endorsementOf } from '../../src/store/log/named-keys.ts';
import { forge, originIn, type Row, rewrite, rowsOf } from './forge.ts';
import type { Victim } from './sealed-victim.ts';
import type { EntryTampering, Outcome, Tampering } from './tampering.ts';

/** Does it. */
export function tamper(victim: Victim, one: Tampering): void {
  switch (one.on) {
    case 'entries':
      forge(victim.home, (db) => tamperWithEntries(db, one, victim));
      leaveCheckpoints(victim, one.outcome);
      break;
    case 'database':
      rollBack(victim);
      leaveCheckpoints(victim, one.outcome);
      break;
    case 'home':
      rmSync(victim.home, { recursive: true });
      cpSync(victim.yesterday, victim.home, { recursive: true });
      leaveCheckpoints(victim, one.outcome);
      break;
    case 'checkpoints':
      leaveCheckpoints(victim, one.act);
      break;
    case 'checkpoint':
      tamperWithCheckpoint(victim, one);
      break;
    case 'head':
      forge(victim.home, (db) => tamperWithHead(db, one));
      break;
    case 'tree':
      forge(victim.home, (db) => {
        const leaves = db
          .prepare('SELECT leaf, tree FROM entries WHERE length(tree) > 0 ORDER BY leaf')
          .all();
        const { leaf, tree } = pick(leaves, one.at);
        const bytes = Buffer.from(tree as Uint8Array);
        const changed = one.act === 'cut' ? bytes.subarray(0, -32) : flipped(bytes, one.byte);
        db.prepare('UPDATE entries SET tree = ? WHERE leaf = ?').run(changed, Number(leaf));
      });
      break;
    case 'rows':
      forge(victim.home, (db) => {
        const { projection, key } = pick(
          db
            .prepare(
              "SELECT projection, key FROM rows WHERE projection <> '+vouchers' ORDER BY projection, key",
            )
            .all(),
          one.at,
        );
        const sql = one.act === 'edit' ? "UPDATE rows SET value = '{}'" : 'DELETE FROM rows';
        db.prepare(`${sql} WHERE projection = ? AND key = ?`).run(String(projection), String(key));
      });
      break;
    case 'keys':
      for (const path of [join(victim.home, 'checkpoints'), victim.folder]) {
        const own = join(path, `lifeboat-${victim.signer.installation}.pub`);
        if (one.act !== 'plant') rmSync(own);
        if (one.act === 'replace') writeFileSync(own, victim.thief.publicKey);
        if (one.act === 'plant')
          writeFileSync(join(path, `lifeboat-${victim.thief.installation}.pub`), victim.thief.publicKey);
      }
      break;
    case 'transcript': {
      const path = join(victim.home, 'transcripts', one.at < 0.5 ? 'a.jsonl' : 'b.jsonl');
      const bytes = readFileSync(path);
      if (one.act === 'delete') rmSync(path);
      else if (one.act === 'append') writeFileSync(path, `${bytes}{}\n`);
      else writeFileSync(path, one.act === 'cut' ? bytes.subarray(0, -1) : flipped(bytes, one.at));
      break;
    }
    default:
      one satisfies never;
  }
}

function tamperWithEntries(db: DatabaseSync, one: EntryTampering, { signer, thief }: Victim): void {
  const before = rowsOf(db);
  const origin = originIn(db);
  if (one.level === 'plain') {
    tamperPlainly(db, before, one);
    return;
  }
  const rows = [...rowsAfter(before, one, origin)];
  const last = rows.at(-1);
  if (last === undefined) throw new Error('there is nothing left to sign');
  const keyBody = JSON.stringify({ installation: thief.installation, publicKey: thief.publicKey });
  const about = { ...last, stream: 'store/log', body: keyBody };
  if (one.level === 'announced') rows.push({ ...about, type: 'key.announced' });
  if (one.level === 'endorsed')
    rows.push({
      ...about,
      type: 'key.endorsed',
      body: canonicalBody({ note: endorsementOf(thief.publicKey, origin, thief), reason: 'x' }, 'it'),
    });
  if (one.level === 'anew')
    rows[0] = {
      ...(rows[0] as Row),
      body: JSON.stringify({ format: 1, origin, publicKey: thief.publicKey }),
    };
  const by = one.level === 'rehashed' ? undefined : one.level === 'stolen' ? signer : thief;
  rewrite(db, rows, { signer: by, origin });
}

/** The entries as the thief wants them. The first one stays, and with it the name of the log. */
export function rowsAfter(
  before: readonly Row[],
  { act, at, other, extent }: EntryTampering,
  origin: string,
): readonly Omit<LeafFields, 'seq'>[] {
  const first = 1 + Math.floor(at * (before.length - 1));
  const second = 1 + Math.floor(other * (before.length - 1));
  const many = 1 + Math.floor(extent * 4);
  const row = before[first] as Row;
  const rows = [...before];
  const last = rows.at(-1) as Row;
  switch (act) {
    case 'delete':
      return rows.toSpliced(first, many);
    case 'cut':
      return rows.slice(0, first);
    case 'edit':
      return rows.with(first, { ...row, body: `{"edited":${Math.floor(other * 1000)}}` });
    case 'insert':
      return rows.toSpliced(first, 0, {
        ...row,
        stream: 'instance/orders',
        type: 'key.proven',
        body: '{"inserted":true}',
      });
    case 'duplicate':
      return rows.toSpliced(second, 0, { ...row, stream: 'instance/orders' });
    case 'swap':
      return rows.with(first, rows[second] as Row).with(second, row);
    case 'back-date':
      return rows.with(first, { ...row, at: dayBefore(row.at) });
    case 'append':
      return [
        ...rows,
        { ...last, stream: 'instance/orders', type: 'key.proven', body: `{"appended":"${origin}"}` },
      ];
    case 'follow an end':
      return [
        ...rows,
        { ...last, stream: at < 0.5 ? 'run/a' : 'run/b', type: 'run.closed', body: '{"proven":false}' },
      ];
    case 'append an old one':
      return [
        ...rows,
        { ...last, at: dayBefore(last.at), stream: 'instance/orders', type: 'key.proven', body: '{}' },
      ];
    default:
      return act satisfies never;
  }
}

/** The same with single statements: inserted entries come at the end, removed ones leave a gap. */
function tamperPlainly(db: DatabaseSync, before: readonly Row[], one: EntryTampering): void {
  const after = rowsAfter(before, one, originIn(db));
  const kept = new Map(after.map((row) => [(row as Row).leaf, row]));
  if (one.act === 'swap') {
    const [first, second] = before.filter(({ leaf }) => (after[leaf] as Row).leaf !== leaf);
    if (first === undefined || second === undefined) return;
    for (const [from, to] of [
      [first.leaf, -1],
      [second.leaf, first.leaf],
      [-1, second.leaf],
    ] as const)
      db.prepare('UPDATE entries SET leaf = ? WHERE leaf = ?').run(to, from);
  } else if (after.length > before.length) {
    const put = after.find((row, at) => row !== before[at]) as Row;
    const { seq } = db
      .prepare('SELECT coalesce(max(seq), 0) + 1 AS seq FROM entries WHERE stream = ?')
      .get(put.stream) as { seq: number };
    db.prepare('INSERT INTO entries SELECT ?, ?, ?, ?, ?, ?, ?, hash, tree FROM entries WHERE leaf = 1').run(
      before.length,
      put.stream,
      seq,
      put.at,
      put.by,
      put.type,
      put.body,
    );
  } else {
    for (const { leaf } of before) {
      const row = kept.get(leaf);
      if (row === undefined) db.prepare('DELETE FROM entries WHERE leaf = ?').run(leaf);
      else db.prepare('UPDATE entries SET at = ?, body = ? WHERE leaf = ?').run(row.at, row.body, leaf);
    }
  }
}

function dayBefore(at: string): string {
  return new Date(Date.parse(at) - 86_400_000).toISOString();
}

function rollBack({ home, yesterday }: Victim): void {
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(home, `lifeboat.db${end}`), { force: true });
    const earlier = join(yesterday, `lifeboat.db${end}`);
    if (existsSync(earlier) && end !== '-shm') cpSync(earlier, join(home, `lifeboat.db${end}`));
  }
}

/** The files of all checkpoints of a place, by size. */
export function checkpointsIn(place: string): readonly { readonly size: number; readonly path: string }[] {
  const names = existsSync(place) ? readdirSync(place, { recursive: true, encoding: 'utf8' }) : [];
  const found = names.flatMap((name) => {
    const [, millions, thousands, rest] =
      /^[0-9a-f]{16}\/x(\d+)\/x(\d{3})\/(\d{3})(?:-[0-9a-f]{16})?$/u.exec(name) ?? [];
    if (rest === undefined) return [];
    return [{ size: Number(`${millions}${thousands}${rest}`), path: join(place, name) }];
  });
  return found.sort((one, other) => one.size - other.size);
}

export function placesOf({
  home,
  folder,
}: Pick<Victim, 'home' | 'folder'>): readonly [home: string, copies: string] {
  return [join(home, 'checkpoints'), folder];
}

function leaveCheckpoints(victim: Victim, outcome: Outcome): void {
  const [own, copies] = placesOf(victim);
  if (outcome === 'newest of the home gone') {
    const newest = checkpointsIn(own).at(-1);
    if (newest !== undefined) rmSync(newest.path);
  }
  for (const { path } of outcome === 'home emptied' || outcome === 'all emptied' ? checkpointsIn(own) : [])
    rmSync(path);
  for (const { path } of outcome === 'copies emptied' || outcome === 'all emptied'
    ? checkpointsIn(copies)
    : [])
    rmSync(path);
}

function tamperWithCheckpoint(
  victim: Victim,
  { act, at, other, byte }: Extract<Tampering, { on: 'checkpoint' }>,
): void {
  const all = placesOf(victim).flatMap((place) => checkpointsIn(place));
  const { path } = pick(all, at);
  const bytes = readFileSync(path);
  if (act === 'delete') rmSync(path);
  else if (act === 'edit') writeFileSync(path, flipped(bytes, byte));
  else {
    const second = pick(all, other).path;
    writeFileSync(path, readFileSync(second));
    writeFileSync(second, bytes);
  }
}

function tamperWithHead(db: DatabaseSync, { act, byte }: Extract<Tampering, { on: 'head' }>): void {
  const newest = 'SELECT max(size) FROM heads';
  const edit = (where: string) => {
    const row = db.prepare(`SELECT size, note FROM heads WHERE ${where}`).get();
    const note = flipped(Buffer.from(String(row?.['note'])), byte).toString();
    db.prepare('UPDATE heads SET note = ? WHERE size = ?').run(note, Number(row?.['size']));
  };
  if (act === 'delete') db.exec(`DELETE FROM heads WHERE size = (${newest})`);
  if (act === 'delete all') db.exec('DELETE FROM heads');
  if (act === 'forget') db.exec('UPDATE heads SET vouched = 0');
  if (act === 'edit') edit(`size = (${newest})`);
  if (act === 'edit an old one') edit(`size = (SELECT min(size) FROM heads)`);
}

/** Flips one bit at a share of the bytes. */
function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  const place = Math.floor(at * bytes.length);
  changed[place] = (changed[place] ?? 0) ^ 1;
  return changed;
}

function pick<T>(from: readonly T[], at: number): T {
  const found = from[Math.floor(at * from.length)];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
}
