import { isEnd, mayFollowEnd } from '../store/run-end.ts';
import type { Audit } from './audit-report.ts';

export interface EndCheck {
  /** Is fed the entries of one stream, in order. */
  take(entry: { readonly seq: number; readonly type: string }): void;
}

/** Nothing follows the end of a run that would change what became of it. Ledgers never end. */
export function endCheck(stream: string, audit: Audit): EndCheck {
  let end: number | undefined;
  return {
    take({ seq, type }) {
      if (!stream.startsWith('run/')) return;
      if (end !== undefined && !mayFollowEnd({ type }))
        audit.problem(
          'run.after-end',
          `entry ${seq} (${type}) stands behind the end of the run, entry ${end}`,
          {
            stream,
            seq,
          },
        );
      if (isEnd({ type })) end ??= seq;
    },
  };
}
