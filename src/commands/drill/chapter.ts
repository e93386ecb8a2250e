import { secondsOf } from '../../base/format.ts';
import type { ResultOf } from '../../cli/print-result.ts';
import type { RecoveryPoint } from '../../report/measure/recovery-point.ts';
import type { Entry } from '../../store/journal.ts';
import { measuresOfRun, slicesInWords } from '../run/run-report.ts';
import type { Stage } from './stage.ts';

/**
 * What one chapter of a drill has shown. Its checks ask the databases themselves; `rowsLostSeconds` is no
 * recovery point, which is measured by what a run knows and compared with the objective.
 */
export type ChapterProof = ResultOf<'drill'>['chapters'][number];

/** A part of the rehearsal: something happens to the lab, and a run brings it back. */
export interface Chapter {
  readonly runbook: string;
  readonly title: string;
  /** The instance whose objectives it is measured against. */
  readonly instance: string;
  /** Undefined when a run was not closed: then the stage knows with which exit code it ended. */
  play(stage: Stage): Promise<ChapterProof | undefined>;
}

/**
 * Whether everything that a chapter checked holds. A check of nothing shows nothing: tables have to be
 * compared, and each of them has to have rows.
 */
export function allHold({ checks, tables }: Pick<ChapterProof, 'checks' | 'tables'>): boolean {
  const isCompared = checks.length > 0 && tables.length > 0;
  return (
    isCompared && checks.every(({ holds }) => holds) && tables.every(({ equal, rows }) => equal && rows > 0)
  );
}

/** What the last activity of that name in a run gave. */
export function outputOf<Output>(entries: readonly Entry[], activity: string): Output | undefined {
  const wanted = `xstate.done.actor.${activity}`;
  const found = entries.findLast(
    ({ type, body }) => type === 'event' && (body as { event?: { type?: string } }).event?.type === wanted,
  );
  return (found?.body as { event?: { output?: Output } } | undefined)?.event?.output;
}

/** How long a recovery took, in its slices; nothing where it was not shown to be over. */
export function recoveryTimeOf(
  runbook: string,
  entries: readonly Entry[],
): Pick<ChapterProof['measures'], 'rtoSeconds' | 'rtoHow'> {
  const measures = measuresOfRun(runbook, entries);
  if (measures === undefined || measures.unshown !== undefined || measures.time.unbound !== undefined)
    return {};
  return { rtoSeconds: secondsOf(measures.time.totalMs), rtoHow: slicesInWords(measures) };
}

/** How much a recovery lost, as the report of its run has it; nothing where that was not measured. */
export function recoveryPointOf(
  runbook: string,
  entries: readonly Entry[],
): Pick<ChapterProof['measures'], 'rpoSeconds' | 'rpoHow'> {
  const point = measuresOfRun(runbook, entries)?.point;
  if (point === undefined) return {};
  return { rpoSeconds: point.lostMs / 1000, rpoHow: `from ${RECOVERED[point.by]} to ${point.lostBy}` };
}

/** What is there again, by how it was measured. */
const RECOVERED: Readonly<Record<RecoveryPoint['by'], string>> = {
  data: 'the newest restored record',
  restored_from: 'the moment that the service restored',
  'chosen-time': 'the chosen moment',
};
