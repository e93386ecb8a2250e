import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { entryLine, headLine } from '../../../src/audit/export.ts';
import { canonicalBody } from '../../../src/store/canonical.ts';
import { hashEntry, type Row } from '../../../src/store/chain.ts';
import { type Entry, ZERO_HASH } from '../../../src/store/journal.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { openSealed } from '../sealed-journal.ts';
import { RUN } from './scene.ts';

/** What a forger does with the entries of a run. */
export type Forgery = (rows: readonly Row[]) => readonly Row[];

/** Makes hashes and links fit again, as anybody can. */
export function rechained(rows: readonly Row[]): Row[] {
  let prev = ZERO_HASH;
  return rows.map((row, at) => {
    const linked = { ...row, seq: at + 1, prev };
    prev = hashEntry(linked);
    return { ...linked, hash: prev };
  });
}

/** Changes a run in the database, past its triggers, which are put back. */
export function forgeHome(home: string, forgery: Forgery, stream = `run/${RUN}`): void {
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`);
  const rows = db
    .prepare('SELECT * FROM entries WHERE stream = ? ORDER BY seq')
    .all(stream) as unknown as Row[];
  db.prepare('DELETE FROM entries WHERE stream = ?').run(stream);
  const insert = db.prepare(
    'INSERT INTO entries (stream, seq, at, by, type, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const row of forgery(rows))
    insert.run(row.stream, row.seq, row.at, row.by, row.type, row.body, row.prev, row.hash);
  for (const { sql } of triggers) db.exec(String(sql));
  db.close();
}

/** Changes the journal of a bundle; the head line is made to fit, its note cannot be. */
export function forgeLines(files: Map<string, Buffer>, forgery: Forgery, name = 'journal.jsonl'): void {
  const lines = (files.get(name) ?? Buffer.alloc(0)).toString('utf8').trimEnd().split('\n');
  const { note } = JSON.parse(lines.at(-1) ?? '{}') as { readonly note?: string };
  const entries = lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
  const rows = entries.map((entry): Row => ({ ...entry, body: canonicalBody(entry.body, 'body') }));
  const forged = forgery(rows);
  const last = forged.at(-1);
  const head = { stream: `run/${RUN}` as const, seq: last?.seq ?? 0, hash: last?.hash ?? ZERO_HASH };
  const text = forged.map((row) => entryLine({ ...row, body: JSON.parse(row.body) } as Entry));
  files.set(name, Buffer.from(`${[...text, headLine(head, note)].join('\n')}\n`));
}

/** Signs a whole home anew with a key of one's own. */
export async function resign(home: string, signer: Signer): Promise<void> {
  rmSync(join(home, 'checkpoints'), { recursive: true });
  const { journal, sealer, close } = await openSealed({ home, signer });
  for (const { stream } of await journal.streams()) await sealer.sealNow(stream, 'closed');
  await close();
}

/** Takes away every signed head of a run that saw more than `seq` entries. */
export function forgetHeads(home: string, seq: number): void {
  const folder = join(home, 'checkpoints/run', RUN);
  for (const name of readdirSync(folder)) {
    const [, size] = readFileSync(join(folder, name), 'utf8').split('\n');
    if (Number(size) > seq) rmSync(join(folder, name));
  }
}

export function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}
