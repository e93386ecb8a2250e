import { hash } from 'node:crypto';
import { ZERO_HASH } from './journal.ts';

/**
 * An entry as it is stored and hashed: `body` is the canonical JSON text itself.
 *
 * The chain, exactly, so that anyone can write a verifier in any language:
 *
 * 1. Streams are independent. Inside one, `seq` counts 1, 2, 3 without a gap.
 * 2. `prev` is the `hash` of the entry before it; 64 times the digit `0` for the first.
 * 3. `hash` is the SHA-256, as 64 lower-case hex digits, of these bytes: the 64 characters of `prev`, one line feed
 *    (0x0A), then the canonical JSON (RFC 8785, UTF-8) of the array `[stream, seq, at, by, type, body]`.
 *
 * The canonical form of an array is `[` + its items, each canonical, joined by `,` + `]`. So with `body` at hand as canonical
 * text the third step is plain concatenation.
 */
export interface Row {
  readonly stream: string;
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly type: string;
  readonly body: string;
  readonly prev: string;
  readonly hash: string;
}

/** The hash of an entry, by the definition at `Row`. Whatever the row claims as its hash is not looked at. */
export function hashEntry(row: Omit<Row, 'hash'>): string {
  const head = `${JSON.stringify(row.stream)},${row.seq},${JSON.stringify(row.at)},${JSON.stringify(row.by)}`;
  return hash('sha256', `${row.prev}\n[${head},${JSON.stringify(row.type)},${row.body}]`, 'hex');
}

/** What is wrong with a link: a hole in the numbers, a wrong predecessor, or content that does not give the hash. */
export interface ChainProblem {
  readonly seq: number;
  readonly code: 'chain.gap' | 'chain.prev' | 'chain.hash';
  readonly shortMessage: string;
}

export interface ChainReport {
  readonly entries: number;
  /** The last row as stored; `{seq: 0, hash: ZERO_HASH}` when there is none. */
  readonly head: { readonly seq: number; readonly hash: string };
  readonly problems: readonly ChainProblem[];
}

/** Re-computes the chain of one stream, its rows given in order from the first. Pure; never throws on any content. */
export function verifyChain(rows: Iterable<Row>): ChainReport {
  const link = linkChecker();
  const problems: ChainProblem[] = [];
  let head = { seq: 0, hash: ZERO_HASH };
  let entries = 0;
  for (const row of rows) {
    entries += 1;
    problems.push(...link(row));
    head = { seq: row.seq, hash: row.hash };
  }
  return { entries, head, problems };
}

/**
 * A checker that is fed the rows of one stream, one by one. After a problem it goes on from what the row claims, so
 * that one changed entry gives one or two problems and not one for every entry behind it.
 */
export function linkChecker(): (row: Row) => readonly ChainProblem[] {
  let seq = 0;
  let tip = ZERO_HASH;
  return (row) => {
    const sound = row.seq === seq + 1 && row.prev === tip && hashEntry(row) === row.hash;
    const problems = sound ? [] : linkProblems(row, seq, tip);
    seq = row.seq;
    tip = row.hash;
    return problems;
  };
}

function linkProblems(row: Row, seq: number, tip: string): ChainProblem[] {
  const problems: ChainProblem[] = [];
  if (row.seq !== seq + 1) {
    problems.push({
      seq: row.seq,
      code: 'chain.gap',
      shortMessage: `entry ${row.seq} follows entry ${seq}: something between or before them was removed, added or moved`,
    });
  }
  if (row.prev !== tip) {
    problems.push({
      seq: row.seq,
      code: 'chain.prev',
      shortMessage: `entry ${row.seq} does not continue the entry before it`,
    });
  }
  if (hashEntry(row) !== row.hash) {
    problems.push({
      seq: row.seq,
      code: 'chain.hash',
      shortMessage: `entry ${row.seq} was changed: its content does not give its hash`,
    });
  }
  return problems;
}
