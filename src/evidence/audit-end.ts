import type { Audit } from './audit-report.ts';

export interface EndCheck {
  /** Is fed the entries of one stream, in order. */
  take(entry: { readonly seq: number; readonly type: string }): void;
}

const ENDS = new Set(['run.closed', 'run.abandoned']);
/** What is written without a look at the end: by a process that waited for the run while it ended, or that takes an approval back at that moment. */
const MAY_FOLLOW = new Set(['run.resumed', 'approval.withdrawn']);

/** Nothing follows the end of a run that would change what became of it. Ledgers never end. */
export function endCheck(stream: string, audit: Audit): EndCheck {
  let end: number | undefined;
  return {
    take({ seq, type }) {
      if (!stream.startsWith('run/')) return;
      if (end !== undefined && !MAY_FOLLOW.has(type))
        audit.problem(
          'run.after-end',
          `entry ${seq} (${type}) stands behind the end of the run, entry ${end}`,
          {
            stream,
            seq,
          },
        );
      if (ENDS.has(type)) end ??= seq;
    },
  };
}
