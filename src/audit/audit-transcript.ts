import { hash } from 'node:crypto';
import { readRunEntry } from '../store/run-entries.ts';
import type { Audit } from './audit-report.ts';

/** How far the record says that the transcript reached, each time it says so. */
export interface KeptTranscript {
  readonly seq: number;
  readonly bytes: number;
  readonly sha256: string;
  /** It could not be written on, or not be looked at: what lies there may be more. */
  readonly troubled: boolean;
}

/** What an entry says of the transcript; undefined for every other entry. */
export function keptTranscript(entry: {
  readonly seq: number;
  readonly type: string;
  readonly body: unknown;
}): KeptTranscript | undefined {
  const read = readRunEntry(entry as Parameters<typeof readRunEntry>[0]);
  if (read?.type !== 'transcript.kept') return undefined;
  const { bytes, sha256, problem } = read.body;
  return { seq: entry.seq, bytes, sha256, troubled: problem !== undefined };
}

/**
 * Compares the beginning of a transcript with each thing that the record says of it. What lies behind that is not covered: a run that was closed (`isClosed`) has
 * nothing there, any other may have been interrupted before it said how far it came.
 */
export function auditTranscript(
  stream: string,
  kept: readonly KeptTranscript[],
  transcript: Buffer | undefined,
  isClosed: boolean,
  audit: Audit,
): void {
  for (const { seq, bytes, sha256 } of kept) {
    if (bytes === 0) continue;
    if (transcript === undefined) {
      audit.problem('transcript.missing', 'the transcript of requests is gone', { stream, seq });
      return;
    }
    if (hash('sha256', transcript.subarray(0, bytes), 'hex') === sha256 && transcript.length >= bytes)
      continue;
    audit.problem('transcript.changed', 'the transcript of requests is not the one of the record', {
      stream,
      seq,
    });
    return;
  }
  const last = kept.at(-1);
  const more = (transcript?.length ?? 0) - (last?.bytes ?? 0);
  if (more <= 0) return;
  const message = `the transcript of ${stream} goes on for ${more} bytes that no entry covers: whoever could write here could have added them`;
  if (isClosed && last !== undefined && !last.troubled)
    audit.problem('transcript.added', message, { stream });
  else audit.warning('transcript.tail', message, { stream });
}
