import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { speaker } from '../store/sentence.ts';

/** One entry for a reader: every text is printable. */
export interface AuditLine {
  readonly stream: string;
  readonly seq: number;
  /** As stored: RFC 3339, UTC. */
  readonly at: string;
  readonly by: string;
  readonly type: string;
  /** One sentence without a stop. */
  readonly text: string;
  /** The first 12 hex digits. */
  readonly hash: string;
}

/**
 * Entries as lines that a person can read: time, who, what happened. Unknown types are shown with their
 * fields.
 */
export function auditShow(entries: readonly Entry[]): AuditLine[] {
  const say = speaker();
  return entries.map((entry) => ({
    stream: show(entry.stream, 120),
    seq: entry.seq,
    at: show(entry.at, 30),
    by: show(entry.by, 60),
    type: show(entry.type, 64),
    text: say(entry).text,
    hash: show(entry.hash.slice(0, 12)),
  }));
}
