import { LifeboatError } from '../../base/errors.ts';
import type { Entry } from '../journal.ts';
import type { Session } from './link.ts';
import { rootAt } from './log.ts';
import { rolledBack } from './trouble.ts';

/**
 * What this process saw acknowledged: a store that knows less of it, or knows it otherwise, was rolled back.
 */
export interface Seen {
  /** The log has had so many entries. */
  size(): number;
  acknowledged(entry: Entry): void;
  signed(head: { readonly size: number; readonly root: string }): void;
  /** Looks at a new connection, perhaps to a promoted standby. Rejects with `journal.rolled-back`. */
  check(session: Session): Promise<void>;
  gone(): LifeboatError;
}

export function createSeen(): Seen {
  let last: Pick<Entry, 'index' | 'hash'> | undefined;
  let head: { readonly size: number; readonly root: string } | undefined;
  const gone = (index: number) => rolledBack(`entry ${index} of the log is gone, or is another one`);
  return {
    size: () => Math.max(head?.size ?? 0, (last?.index ?? -1) + 1),
    acknowledged(entry) {
      if (last === undefined || entry.index > last.index) last = { index: entry.index, hash: entry.hash };
    },
    signed(next) {
      if (head === undefined || next.size > head.size) head = next;
    },
    async check(session) {
      if (last !== undefined) {
        const [leaf] = await session.query<{ hash: string }>(
          `select encode(hash, 'hex') as hash from lifeboat.leaves where leaf = $1`,
          [last.index],
        );
        if (leaf?.hash !== last.hash) throw gone(last.index);
      }
      if (head === undefined) return;
      const root = await rootAt(session, head.size).catch((error: unknown) => {
        // Missing nodes are an answer here; a connection that breaks is not.
        if (error instanceof LifeboatError) return undefined;
        throw error;
      });
      if (root !== head.root) throw gone(head.size - 1);
    },
    gone: () => rolledBack('what this process has just written is gone'),
  };
}
