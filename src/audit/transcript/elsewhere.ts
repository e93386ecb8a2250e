import { hash } from 'node:crypto';
import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { transcriptOf } from './path.ts';

/**
 * What the record is to say where the transcript of what was sent until now is not in this home, because
 * another machine has driven the run: on which host that was, as far as the record knows. Nothing where it is
 * here, or where nothing was sent.
 */
export function transcriptElsewhere(
  home: string,
  runId: string,
  entries: readonly Entry[],
  host: string,
): readonly { readonly type: 'transcript.elsewhere'; readonly body: { readonly host?: string } }[] {
  const since = entries.slice(entries.findLastIndex(({ type }) => type === 'transcript.elsewhere') + 1);
  const kept = since.map(keptIn).findLast((body) => body !== undefined);
  const before = entries.map(hostIn).findLast((name) => name !== undefined);
  const here = transcriptOf(home, runId);
  const isHere =
    kept === undefined
      ? here !== undefined || before === host || !since.some(({ type }) => type === 'activity.begun')
      : kept.bytes === 0 ||
        (here !== undefined && hash('sha256', here.subarray(0, kept.bytes), 'hex') === kept.sha256);
  if (isHere) return [];
  return [{ type: 'transcript.elsewhere', body: before === undefined ? {} : { host: before } }];
}

function keptIn(entry: Entry) {
  const read = entry.type === 'transcript.kept' ? readRunEntry(entry) : undefined;
  return read?.type === 'transcript.kept' ? read.body : undefined;
}

function hostIn(entry: Entry): string | undefined {
  const read = entry.type.startsWith('run.') ? readRunEntry(entry) : undefined;
  return read?.type === 'run.started' || read?.type === 'run.resumed' ? read.body.who?.host : undefined;
}
