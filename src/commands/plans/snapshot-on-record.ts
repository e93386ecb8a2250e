import { runbookOf } from '../../../machines/index.ts';
import type { Failure } from '../../base/failure.ts';
import type { ChildSnapshot } from '../../plans/conductor-port.ts';
import { foldGrowing } from '../../runner/fold.ts';
import { fieldsOf, type JournalReader } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { childSnapshot } from './child-snapshot.ts';

export const NOTHING_ASKED: ChildSnapshot = {
  question: undefined,
  where: undefined,
  sinceMs: undefined,
  asksAbout: undefined,
  paused: undefined,
  warning: undefined,
  hasConfirmed: false,
  activity: undefined,
  targetNow: undefined,
};

/** By its record alone; undefined for an unknown runbook or version. */
export async function snapshotOnRecord(
  journal: Pick<JournalReader, 'read'>,
  runId: string,
): Promise<ChildSnapshot | undefined> {
  const entries = await journal.read(`run/${runId}`);
  const { runbook: id, version } = fieldsOf(entries[0]?.body);
  const runbook = runbookOf(String(id), String(version));
  if (runbook === undefined) return undefined;
  const { snapshot } = foldGrowing(runbook, entries);
  const newest = entries.findLast(({ type }) => type === 'event' || type === 'run.paused');
  const read = newest && readRunEntry(newest);
  const paused = read?.type === 'run.paused' ? (read.body.failure as Failure) : undefined;
  return childSnapshot({ snapshot, paused, entries, activity: undefined });
}
