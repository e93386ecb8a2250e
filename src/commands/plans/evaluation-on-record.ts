import { msOf } from '../../base/instant.ts';
import { findingsOf, toRecord } from '../../plans/findings.ts';
import type { NewEntry } from '../../store/journal.ts';
import { type Evaluated, evaluationEntry, type Finding } from '../../store/projections/evaluations.ts';

const DAY_MS = 24 * 60 * 60_000;

/** After this an evaluation is recorded without news. */
const ON_RECORD_MS = 7 * DAY_MS;

interface Of {
  readonly subject: string;
  readonly evaluation: Parameters<typeof toRecord>[0] & Parameters<typeof findingsOf>[0];
  readonly facts: Parameters<typeof toRecord>[2];
  readonly before: Evaluated | undefined;
  /** Of findings without another. */
  readonly owner: string | undefined;
  readonly now: Date;
}

export interface OnRecord {
  readonly findings: readonly Finding[];
  readonly changed: boolean;
  /** Undefined where the record says the same, and not too long ago. */
  readonly entry: NewEntry | undefined;
}

/**
 * What goes on record of an evaluation: each that changed anything, and one a week that did not. So the
 * record shows that an instance was evaluated in a month, with at most 53 such entries a year for each. Pure.
 */
export function onRecord({ subject, evaluation, facts, before, owner, now }: Of): OnRecord {
  const findings = findingsOf(evaluation, before, now, owner);
  const changed = toRecord(evaluation, findings, facts, before);
  const isOld = before !== undefined && now.getTime() - msOf(before.at) >= ON_RECORD_MS;
  const body = changed ?? (isOld ? toRecord(evaluation, findings, facts, undefined) : undefined);
  return {
    findings,
    changed: changed !== undefined,
    entry: body === undefined ? undefined : evaluationEntry(subject, body),
  };
}
