import { leftUnbound, stillOpen } from '../../../machines/parts/unfinished.ts';
import { msOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import type { WrittenFollowUp } from '../../store/run-entries.ts';
import { type Measures, resultOfPoint, resultOfTime } from '../measure/measure.ts';
import { timelineOf } from '../measure/timeline.ts';
import { find, findLast } from './found.ts';
import type { Measured, Report } from './model.ts';

const KINDS = { LIVE: 'real', REHEARSAL: 'rehearsal' } as const;

export function runOf(entries: readonly Entry[]): Report['run'] {
  const started = find(entries, 'run.started')?.body;
  const input = fieldsOf(started?.input);
  const first = entries[0];
  const over = find(entries, 'run.closed') ?? find(entries, 'run.abandoned');
  const timeline = timelineOf(entries);
  const ms = msOf(over?.entry.at) - msOf(first?.at) - (timeline?.clockMovedMs ?? 0);
  return {
    id: first?.stream.replace(/^run\//u, '') ?? 'none',
    kind: started === undefined ? 'unknown' : KINDS[started.mode],
    runbook: started?.runbook,
    version: started?.version,
    instance: started?.instance,
    target: started?.target,
    mode: started?.mode,
    operator: started?.operator,
    reason: said(input['reason']),
    incidentAt: said(input['incidentAt']),
    startedAt: first?.at,
    endedAt: over?.entry.at,
    seconds: ms >= 0 ? ms / 1000 : undefined,
    clockSetBack: timeline?.clockSetBack ?? false,
    clockMovedSeconds: (timeline?.clockMovesMs ?? []).map((ms) => ms / 1000),
    serviceClockAheadSeconds: skewOf(entries),
    tool: started?.tool,
    entries: entries.length,
  };
}

/**
 * How the run ended, and whether that is proven. If applications were left without the data, it is no proven
 * recovery, whatever the run itself says.
 */
export function outcomeOf(entries: readonly Entry[], all: readonly WrittenFollowUp[]): Report['outcome'] {
  const closed = find(entries, 'run.closed')?.body;
  const abandoned = find(entries, 'run.abandoned')?.body;
  const followUps = stillOpen(all).length;
  if (closed !== undefined) {
    const text = closed.title ?? closed.outcome;
    const proven = closed.proven && leftUnbound(all).length === 0;
    return { status: 'closed', proven, text, failure: closed.failure?.shortMessage, followUps };
  }
  if (abandoned !== undefined) return { status: 'abandoned', text: abandoned.reason, followUps };
  const at = findLast(entries, 'event')?.body;
  return { status: 'open', text: at?.title ?? at?.to ?? '', followUps };
}

/** As last measured by the run. */
function skewOf(entries: readonly Entry[]): number | undefined {
  const seen = timelineOf(entries)?.performed.findLast(
    ({ output }) => typeof output['clockSkewSeconds'] === 'number',
  );
  return seen === undefined ? undefined : Number(seen.output['clockSkewSeconds']);
}

function said(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What the recovery took and lost, compared with its objectives, and how each was measured. */
export function measuredOf(measures: Measures): Measured {
  const { objectives: limits, time, point, restores } = measures;
  const { decide, queue, execute, human, rebind } = time.slicesMs;
  return {
    status: time.status,
    since: time.since,
    from: time.from,
    until: time.until,
    rto: {
      limitSeconds: limits.rtoSeconds,
      measuredSeconds: time.totalMs / 1000,
      ...resultOfTime(measures),
    },
    rpo: {
      limitSeconds: limits.rpoSeconds,
      measuredSeconds: point === undefined ? undefined : point.lostMs / 1000,
      ...(restores ? resultOfPoint(measures) : NO_POINT),
    },
    slices: {
      decide: decide / 1000,
      queue: queue / 1000,
      execute: execute / 1000,
      human: human / 1000,
      rebind: rebind / 1000,
    },
    notes: [...time.notes],
    restores,
    point,
  };
}

const NO_POINT = { result: 'does not apply' as const };
