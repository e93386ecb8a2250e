import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findDownloads } from '../../../src/commands/prune/prune.ts';
import type { JournalReader, ProjectedRow } from '../../../src/store/journal.ts';
import { createFold, PROJECTIONS, selectRows } from '../../../src/store/projected.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const OLD = new Date('2026-01-01T00:00:00Z');
const [KEY, OTHER] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lifeboat-prune-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const runId = (letter: string) => letter.repeat(26);

/** A journal of these entries, as its projections show it. */
function journalOf(entries: readonly { stream: string; type: string; body: object }[]) {
  const folds = new Map(PROJECTIONS.map((projection) => [projection.name, createFold(projection)]));
  const seqs = new Map<string, number>();
  entries.forEach((entry, index) => {
    const seq = (seqs.get(entry.stream) ?? 0) + 1;
    seqs.set(entry.stream, seq);
    for (const fold of folds.values())
      fold.take({ ...entry, index, seq, at: OLD.toISOString(), by: 'me', hash: '' } as never);
  });
  const rows = async (name: string, query?: object): Promise<readonly ProjectedRow[]> =>
    selectRows(folds.get(name)?.rows() ?? [], query);
  return { rows, read: async () => [] } as unknown as JournalReader;
}

const started = (id: string) => ({
  stream: `run/${id}`,
  type: 'run.started',
  body: { runbook: 'rotate-key', version: '2', instance: 'orders', mode: 'LIVE' },
});
const closed = (id: string) => ({
  stream: `run/${id}`,
  type: 'run.closed',
  body: { proven: true, title: 'done' },
});
const proven = (id: number, fingerprint: string) => ({
  stream: 'instance/orders',
  type: 'key.proven',
  body: {
    ...{ fingerprint, run: 'R', verdict: 'readable', cipherSha256: '0', negative: 'refused' },
    backup: { id },
  },
});
const ENDED = [started(runId('A')), closed(runId('A'))];

function leave(name: string, at: Date = OLD, instance = 'orders'): string {
  const folder = join(home, 'backups', instance);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, 'bytes');
  utimesSync(path, at, at);
  return path;
}

const file = (backup: number, letter = 'A', purpose = 'prove') =>
  `backup-${backup}-${purpose}-${runId(letter)}.tgz.enc`;

async function found(entries: Parameters<typeof journalOf>[0] = ENDED, beforeMs = NOW) {
  return (await findDownloads(journalOf(entries), home, beforeMs)).map(({ path }) => path);
}

test('the downloads of a finished run may be removed, incomplete ones too, once they are old enough', async () => {
  const old = [leave(file(3)), leave(`${file(4)}.part`), leave(`${file(4)}.part.json`)];
  leave(file(5), new Date(NOW - 1000));
  expect(await found(ENDED, NOW - 2000)).toEqual(old);
});

test('the downloads of an open run are kept', async () => {
  leave(file(3));
  expect(await found([started(runId('A'))])).toEqual([]);
});

test('the downloads of a run with an open follow-up are kept until it is done', async () => {
  const path = leave(file(3));
  const followUp = { id: 'retire-key-x', kind: 'retire-key', subject: 'x', what: 'retire', commands: [] };
  const opened = {
    stream: 'instance/orders',
    type: 'follow-up.opened',
    body: { followUp, run: runId('A') },
  };
  expect(await found([...ENDED, opened])).toEqual([]);
  const done = {
    stream: 'instance/orders',
    type: 'follow-up.closed',
    body: { id: followUp.id, closure: { how: 'hand', text: 'done', evidence: {} } },
  };
  expect(await found([...ENDED, opened, done])).toEqual([path]);
});

test('the newest proven backup of each key is kept, and an older proof of the same key may be removed', async () => {
  const older = leave(file(3));
  for (const id of [4, 5]) leave(file(id));
  expect(await found([...ENDED, proven(5, OTHER), proven(3, KEY), proven(4, KEY)])).toEqual([older]);
});

test('the backups that the recovery card names are kept', async () => {
  leave(file(3));
  const card = {
    backupGuid: 'guid',
    preparedAt: OLD.toISOString(),
    crossCheck: 'agrees',
    proven: { id: 3, provenAt: OLD.toISOString(), fingerprint: KEY },
  };
  expect(
    await found([...ENDED, { stream: 'instance/orders', type: 'card.prepared', body: { card } }]),
  ).toEqual([]);
});

test('of the copies that were saved on purpose only the newest is kept', async () => {
  const older = leave(file(3, 'A', 'archive'), new Date(OLD.getTime() - 1000));
  leave(file(4, 'A', 'archive'));
  expect(await found()).toEqual([older]);
});

test('files with another name, or of a run that this journal does not know, are ignored', async () => {
  leave(file(3, 'B'));
  leave('my-backup.tgz.enc');
  mkdirSync(join(home, 'backups', 'orders', file(4)));
  expect(await found()).toEqual([]);
});
