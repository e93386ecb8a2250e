import { hash } from 'node:crypto';
import { jsonIn } from '../store/canonical.ts';
import { fieldsOf, type StoredEntry } from '../store/journal.ts';
import { isEnd, readRunEntry } from '../store/run-entries.ts';
import type { Findings } from './verdict.ts';

export interface KeptTranscript {
  readonly seq: number;
  readonly bytes: number;
  readonly sha256: string;
  /** It could not be written or read: the file may contain more. */
  readonly troubled: boolean;
}

function keptTranscript({
  seq,
  type,
  body,
}: Pick<StoredEntry, 'seq' | 'type' | 'body'>): KeptTranscript | undefined {
  const json = type === 'transcript.kept' ? jsonIn(body) : undefined;
  const read = json === undefined ? undefined : readRunEntry({ type, body: json });
  if (read?.type !== 'transcript.kept') return undefined;
  const { bytes, sha256, problem } = read.body;
  return { seq, bytes, sha256, troubled: problem !== undefined };
}

export type TranscriptOf = (runId: string) => Buffer | undefined;

/**
 * Compares the transcript of each run with its record. In a shared store (`isShared`) each resume may have
 * been on another machine or in another home, with its own requests. The local transcript must be one or more
 * of these parts. A killed process recorded nothing about its own part.
 */
export function transcriptWatch(
  transcriptOf: TranscriptOf,
  isShared: boolean,
  findings: Findings,
): { take(entry: StoredEntry): void; finish(): void } {
  const runs = new Map<string, Watched>();
  return {
    take(entry) {
      if (!entry.stream.startsWith('run/')) return;
      let run = runs.get(entry.stream);
      if (run === undefined) {
        run = { parts: [[]], isClosed: false, isFresh: false, isHeld: false, isTakenOver: false };
        runs.set(entry.stream, run);
      }
      const kept = keptTranscript(entry);
      if (kept !== undefined) run.parts.at(-1)?.push(kept);
      if (isShared && isPartOf(entry.type, run)) run.parts.push([]);
      run.isTakenOver ||= isShared && entry.type === 'run.resumed' && run.isHeld;
      run.isHeld = isHeldAfter(entry, run.isHeld);
      if (entry.type === 'run.resumed') run.isFresh = true;
      else if (kept !== undefined) run.isFresh = false;
      run.isClosed ||= isEnd(entry) && entry.type !== 'run.abandoned';
    },
    finish() {
      for (const [stream, { parts, isClosed, isTakenOver }] of runs) {
        const transcript = transcriptOf(stream.replace(/^run\//u, ''));
        const sent = parts.filter((part) => part.some(({ bytes }) => bytes > 0));
        const here = sent.filter((part) => part.every((kept) => isBeginning(transcript, kept)));
        const isUnsaid = parts.length > 1 && parts.some((part) => part.length === 0);
        const mayBeOther = transcript === undefined || here.length > 0 || isUnsaid;
        const isElsewhere = isShared && here.length < sent.length && mayBeOther;
        if (isElsewhere) {
          const what = here.length > 0 ? 'a part of the transcript' : 'the transcript';
          findings.limit('transcript.elsewhere', `${what} of ${stream} is not on this machine`, { stream });
        }
        const isLastHere = !isElsewhere || here.at(-1) === sent.at(-1);
        const kept = isElsewhere ? here : parts;
        const isWhole = isClosed && isLastHere && !isTakenOver;
        auditTranscript(stream, kept.flat(), transcript, isWhole, findings);
      }
    },
  };
}

interface Watched {
  readonly parts: KeptTranscript[][];
  isClosed: boolean;
  isFresh: boolean;
  /** By the record: a process has begun or resumed it, and has not left it. */
  isHeld: boolean;
  /** A process that was stopped or cut off for longer than its hold may still write the answer it awaited. */
  isTakenOver: boolean;
}

function isHeldAfter({ type, body }: Pick<StoredEntry, 'type' | 'body'>, before: boolean): boolean {
  if (type === 'run.started') return fieldsOf(jsonIn(body))['workers'] === undefined;
  if (type === 'run.detached') return false;
  return before || type === 'run.resumed';
}

/** On resuming, a process first records where earlier requests are: that makes one new part, not two. */
function isPartOf(type: string, { isFresh }: { readonly isFresh: boolean }): boolean {
  return type === 'run.resumed' || (type === 'transcript.elsewhere' && !isFresh);
}

function isBeginning(transcript: Buffer | undefined, { bytes, sha256 }: KeptTranscript): boolean {
  if (bytes === 0) return true;
  if (transcript === undefined || transcript.length < bytes) return false;
  return hash('sha256', transcript.subarray(0, bytes), 'hex') === sha256;
}

/** What is whole (`isWhole`) has nothing after the recorded part; another run may have been interrupted. */
function auditTranscript(
  stream: string,
  kept: readonly KeptTranscript[],
  transcript: Buffer | undefined,
  isWhole: boolean,
  findings: Findings,
): void {
  for (const one of kept) {
    const { seq, bytes } = one;
    if (bytes === 0) continue;
    if (transcript === undefined) {
      findings.problem('transcript.missing', 'the transcript of requests is gone', { stream, seq });
      return;
    }
    if (isBeginning(transcript, one)) continue;
    const message = 'the transcript of requests does not match the record';
    findings.problem('transcript.changed', message, { stream, seq });
    return;
  }
  const last = kept.at(-1);
  const more = (transcript?.length ?? 0) - (last?.bytes ?? 0);
  if (more <= 0) return;
  const found = `the transcript of ${stream} has ${more} bytes more than any entry covers`;
  const message = `${found}: anybody who can write here may have added them`;
  if (isWhole && last !== undefined && !last.troubled)
    findings.problem('transcript.added', message, { stream });
  else findings.limit('transcript.tail', message, { stream });
}
