import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../../base/errors.ts';
import { type Entry, type Hold, LOG_STREAM, type StreamName } from '../journal.ts';
import { peaksOf } from '../log/merkle.ts';
import { hearLog, type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import {
  type LogTip,
  nextLeaves,
  type StoredHead,
  type StoredLeaf,
  verifiedTip,
} from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import type { PreparedEntry } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import { SCHEMA } from './database.ts';
import type { Queries } from './queries.ts';
import { keepsRowsOf, prepareProject } from './rows.ts';

export interface WriteOptions {
  readonly by: string;
  readonly signer: Signer;
  readonly projections: readonly Projection[];
  /** The first append drops signed heads above the last row (`dropHeads`). */
  readonly setBack?: boolean | undefined;
}

export interface Writer {
  /** One transaction: proves holds, appends, folds, signs the new head. If it throws, nothing remains. */
  append(
    prepared: readonly PreparedEntry[],
    holds: ReadonlyMap<StreamName, Hold>,
    context: {
      readonly at: string;
      readonly vouched: number;
      /** If one is lost. */
      readonly assertHoldsLast: () => void;
    },
  ): readonly Entry[];
  /** Durable. */
  nextToken(resource: StreamName): number;
}

export function prepareWriter(db: DatabaseSync, queries: Queries, options: WriteOptions): Writer {
  const { by, signer, projections } = options;
  const insert = prepareInsert(db);
  const token = db.prepare('SELECT token FROM holds WHERE resource = ?');
  const countUp = db.prepare(
    'INSERT INTO holds VALUES (?, 1) ON CONFLICT (resource) DO UPDATE SET token = token + 1',
  );
  const transaction = prepareTransaction(db);
  const project = prepareProject(db, projections, signer);
  const tokenOf = (resource: string) => (token.get(resource) as { token: number } | undefined)?.token ?? 0;

  // Verified or signed by this process, for a version of the database, which changes when others commit.
  let known: { readonly version: unknown; readonly tip: LogTip } | undefined;
  const tipAt = (version: unknown): LogTip => {
    if (known !== undefined && known.version === version) return known.tip;
    assertProjections(db, projections);
    if (options.setBack === true) dropHeads(db, queries);
    const [size, head] = [queries.size(), queries.newestHead()];
    const tip = known?.tip;
    if (tip?.frontier.size === size && tip.head?.note === head?.note) return tip;
    return readTip(queries, tip?.said);
  };

  return {
    append(prepared, holds, { at, vouched, assertHoldsLast }) {
      const { made, version } = transaction(() => {
        for (const { resource, token } of holds.values())
          if (tokenOf(resource) !== token) throw takenOver(resource);
        assertHoldsLast();
        const version = queries.version();
        const tip = tipAt(version);
        const made = nextLeaves(tip, prepared, {
          seqOf: (stream) => queries.head(stream).seq,
          at,
          before: queries.lastAt(),
          by,
          signer,
          vouched: Math.max(vouched, tip.head?.vouched ?? 0),
        });
        for (const leaf of made.leaves) insert.leaf(leaf);
        project(made.entries, { said: made.tip.said, before: tip.frontier.size, after: made.head.size });
        insert.head(made.head);
        return { made, version };
      });
      known = { version, tip: made.tip };
      return made.entries.slice(made.own);
    },
    nextToken: (resource) =>
      transaction(() => {
        countUp.run(resource);
        return tokenOf(resource);
      }),
  };
}

export function prepareInsert(db: DatabaseSync) {
  const leaves = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const heads = db.prepare('INSERT INTO heads VALUES (?, ?, ?, ?)');
  return {
    leaf({ index, stream, seq, at, by, type, body, hash, tree }: StoredLeaf): void {
      leaves.run(index, stream, seq, at, by, type, body, Buffer.from(hash, 'hex'), tree);
    },
    head({ size, note, installation, vouched }: StoredHead): void {
      heads.run(size, note, installation, vouched);
    },
  };
}

/** What the next append builds on. `said`: the part of `store/log` already read. */
export function readTip(queries: Queries, said: LogSays = NOTHING_SAID): LogTip {
  const size = queries.size();
  const peaks = peaksOf(size).map(({ level, index }) => Buffer.from(queries.node(level, index)));
  const head = queries.newestHead();
  return verifiedTip({ frontier: { size, peaks }, head, said: hearLog(said, queries.read(LOG_STREAM)) });
}

/**
 * If the last rows are gone, the heads signed over them block appends. After a person accepted that, removes
 * these heads; `verifiedTip` then requires the newest remaining head to cover exactly the remaining rows.
 */
function dropHeads(db: DatabaseSync, queries: Queries): void {
  const size = queries.size();
  if ((queries.newestHead()?.size ?? 0) <= size) return;
  const { heads_no_delete: trigger = '' } = SCHEMA;
  db.exec('DROP TRIGGER IF EXISTS heads_no_delete');
  db.prepare('DELETE FROM heads WHERE size > ?').run(size);
  db.exec(trigger);
}

function prepareTransaction(db: DatabaseSync) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  return <T>(work: () => T): T => {
    begin.run();
    try {
      const done = work();
      commit.run();
      return done;
    } catch (error) {
      rollBack(db);
      throw error;
    }
  };
}

/** A failed write has often ended the transaction already, and its error is the one that counts. */
function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {}
}

/** Another version of Lifeboat rebuilt them: rows of two versions must not be mixed. */
function assertProjections(db: DatabaseSync, projections: readonly Projection[]): void {
  if (keepsRowsOf(db, projections)) return;
  throw new LifeboatError('journal.version', 'another version of lifeboat has taken the journal over', {
    hints: ['nothing was written: go on with that version'],
  });
}

function takenOver(resource: string): LifeboatError {
  return new LifeboatError('journal.conflict', `${resource} was taken over by another process`, {
    hints: ['nothing was written: read it again before acting', 'lock files must not be deleted'],
  });
}
