import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Entry } from '../journal.ts';
import { inclusionProof, nodeAt, peaksOf, placeOf, provesInclusion, rootOfFrontier } from '../log/merkle.ts';
import type { LogSays } from '../log/named-keys.ts';
import { checkpointOfHead } from '../log/next-leaves.ts';
import type { Signer } from '../log/signer.ts';
import type { Session } from './link.ts';
import { columnsOf } from './queries.ts';
import { keyOf } from './write.ts';

/*
 * The server says that rows have leaves, but its owner controls what it says. So the writer reads back what
 * the owner cannot forge: the newest head, signed by a key of the log, and the nodes that lead from the
 * writer's own rows to its root. One look-up per node: no plan for that slows down as the table grows.
 */
const READ_BACK = `with mine as materialized (
  select e.stream, e.seq, l.leaf from unnest($1::text[], $2::bigint[]) g(stream, seq)
    cross join lateral (
      select e.id, e.stream, e.seq from lifeboat.entries e where e.stream = g.stream and e.seq = g.seq limit 1
    ) e
    cross join lateral (select l.leaf from lifeboat.leaves l where l.id = e.id limit 1) l
), newest as materialized (
  select size, note, installation from lifeboat.heads order by size desc limit 1
), wanted as (
  select ((size >> k) << k) - 1 as leaf from newest, generate_series(0, 52) k where (size >> k) & 1 = 1
  union
  select ((((leaf >> k) # 1) + 1) << k) - 1 from mine, newest, generate_series(0, 52) k
    where ((((leaf >> k) # 1) + 1) << k) <= size
)
select (select json_agg(json_build_array(stream, seq, leaf)) from mine) as rows,
  (select row_to_json(newest) from newest) as head,
  (select json_agg(json_build_array(n.leaf, n.hash, n.tree)) from wanted w cross join lateral (
    select l.leaf, encode(l.hash, 'hex') as hash, encode(l.tree, 'hex') as tree
      from lifeboat.leaves l where l.leaf = w.leaf limit 1
  ) n) as nodes`;

/** What exists of the writer's own rows, and of the tree around them. */
interface ReadBack {
  readonly rows: readonly (readonly [stream: string, seq: number, leaf: number])[] | null;
  readonly head: { readonly size: number; readonly note: string; readonly installation: string } | null;
  readonly nodes: readonly (readonly [leaf: number, hash: string, tree: string])[] | null;
}

export interface ReadBackOptions {
  readonly signer: Signer;
  /** The log's keys, read again if `isStale`. */
  readonly said: (session: Session, isStale: boolean) => Promise<LogSays>;
}

/**
 * Compares acknowledged entries with the store's current state: each has its leaf, and is covered by the
 * newest head, signed by a key of the log. Rejects with `journal.damaged` otherwise.
 */
export async function readBack(
  session: Session,
  entries: readonly Entry[],
  { signer, said }: ReadBackOptions,
): Promise<void> {
  const [answer] = await session.query<ReadBack>(READ_BACK, [...columnsOf(entries, 'stream', 'seq')]);
  const head = answer?.head ?? undefined;
  if (answer === undefined || head === undefined) throw notKept('there is no signed head');
  let says = await said(session, false);
  if (!says.keys.has(head.installation)) says = await said(session, true);
  const checkpoint = checkpointOfHead(head, says, signer);
  if (checkpoint === undefined) throw notKept('no key that the log knows has signed its newest head');
  const nodes = new Map(answer.nodes?.map(([leaf, hash, tree]) => [leaf, bytesOf(hash, tree)]));
  const nodeOf = (level: number, index: number) => {
    const { leaf, place } = placeOf(level, index);
    return nodeAt(nodes.get(leaf), place) ?? Buffer.alloc(0);
  };
  const peaks = peaksOf(head.size).map(({ level, index }) => Buffer.from(nodeOf(level, index)));
  const root = rootOfFrontier({ size: head.size, peaks });
  if (checkpoint.size !== head.size || checkpoint.root !== root.toString('hex'))
    throw notKept('its newest signed head does not cover what is there');
  const leaves = new Map(answer.rows?.map(([stream, seq, leaf]) => [keyOf({ stream, seq }), leaf]));
  for (const { stream, seq, index, hash } of entries) {
    const isIn =
      leaves.get(keyOf({ stream, seq })) === index &&
      index < head.size &&
      provesInclusion(
        Buffer.from(hash, 'hex'),
        index,
        head.size,
        inclusionProof(index, head.size, nodeOf),
        root,
      );
    if (!isIn) throw notKept(`entry ${seq} of ${show(stream, 120)} is not in what was signed`);
  }
}

function bytesOf(hash: string, tree: string) {
  return { hash: Buffer.from(hash, 'hex'), tree: Buffer.from(tree, 'hex') };
}

function notKept(what: string): LifeboatError {
  return new LifeboatError(
    'journal.damaged',
    `the database says that it has written, and it has not: ${what}`,
    {
      hints: [
        'no further step is taken: what is not on record is not done',
        'its functions or tables may have been changed: ask the owner of the database, then `lifeboat audit verify`',
      ],
    },
  );
}
