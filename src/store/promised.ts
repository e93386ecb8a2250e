import type { Entry } from './journal.ts';
import { readRunEntry } from './run-entries.ts';

/**
 * What the first entry of a run says that sets its limits: since when time counts (the incident, where
 * somebody said so), and the objectives. Nothing for an entry of another kind.
 */
export function promisedBy(started: Entry | undefined): {
  readonly from: string | undefined;
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
} {
  const read = started === undefined ? undefined : readRunEntry(started);
  if (started === undefined || read?.type !== 'run.started') return { from: undefined };
  const { input, objectives } = read.body;
  const incident =
    typeof input === 'object' && input !== null && !Array.isArray(input) ? input['incidentAt'] : undefined;
  return { from: typeof incident === 'string' ? incident : started.at, ...objectives };
}
