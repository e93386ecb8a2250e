import { leftUnbound, stillOpen } from '../../machines/parts/unfinished.ts';
import { msOf } from '../base/instant.ts';
import { type Entry, fieldsOf, type Json } from '../store/journal.ts';
import type { Loss } from '../store/log/log-entries.ts';
import type { WrittenFollowUp } from '../store/run-entries.ts';
import { type Measures, resultOfPoint, resultOfTime } from './measure/measure.ts';
import { timelineOf } from './measure/timeline.ts';
import { alarmsOf, lossAlarm } from './model/alarms.ts';
import { changesOf, evidenceOf, linesOf, type RecordProof } from './model/chain.ts';
import { checksOf } from './model/checks.ts';
import { cleaned } from './model/cleaned.ts';
import { type CourseOptions, courseOf } from './model/course.ts';
import { custodyOf, forcedEnds } from './model/custody.ts';
import { blanksFor, decisionsOf, deviationsOf, factsOf, issuesOf, SIGN_OFF } from './model/decided.ts';
import { type Measured, Report } from './model/model.ts';
import { type FollowUpRow, find, findAll, findLast, untilEnd } from './model/model-rows.ts';
import { approvalsOf, mayApproveOf, peopleOf, plansAsked } from './model/people.ts';
import { comparisonOf, identityOf, reconciliationOf, recoveredOf, sourceOf } from './model/recovered.ts';
import { rotationOf } from './model/rotation.ts';

export interface ReportOptions extends RecordProof, CourseOptions {
  /** Facts about the instance that this run wrote to its ledger: keys, cards, proven backups. */
  readonly ledger?: readonly Entry[];
  /** The whole ledger of the instance, for its state before the run. Default: `ledger`. */
  readonly history?: readonly Entry[];
  /** Proofs of people that they can open sealed copies of keys. */
  readonly holders?: readonly Entry[];
  /** Losses accepted in the store: what they took of the run is unknown. They head the record. */
  readonly losses?: readonly Loss[];
  /** Default: those in the run's last entry, if it is closed. */
  readonly followUps?: readonly WrittenFollowUp[] | undefined;
}

/**
 * The record of a run, from its entries alone, so that it can be made again at any time with the same
 * content. Pure. For an open run it says so; what only people know is left open, never made up. Entries after
 * the end of the run are listed, and change nothing else.
 */
export function buildReport(all: readonly Entry[], options: ReportOptions): Report {
  const entries = untilEnd(all);
  const ledger = options.ledger ?? [];
  const followUps = followUpsOf(entries, options.followUps);
  const run = runOf(entries);
  const rows = followUpRows(entries, followUps);
  const [checks, approvals] = [checksOf(entries), approvalsOf(entries)];
  const [history, holders] = [options.history ?? [], options.holders ?? []];
  const custody = custodyOf({ history, holders }, entries.at(-1)?.at ?? '');
  const report: Report = {
    schema: 'lifeboat.report/1',
    generatedAt: options.generatedAt.toISOString(),
    title: run.runbook === undefined ? 'Run' : `${run.runbook} on ${run.instance}`,
    alarms: [...(options.losses ?? []).map(lossAlarm), ...forcedEnds(history), ...alarmsOf(all, followUps)],
    run: { ...run, entries: all.length },
    outcome: outcomeOf(entries, followUps),
    people: peopleOf(entries, [...new Set(rows.map(({ owner }) => owner))]),
    plan: { asked: plansAsked(approvals) },
    measured: options.measures === undefined ? undefined : measuredOf(options.measures),
    facts: factsOf(entries),
    recoveryPoint: recoveredOf(entries, options.measures?.point),
    source: sourceOf(entries),
    changed: identityOf(entries),
    course: courseOf(entries, options),
    checks,
    reconciliation: reconciliationOf(entries),
    comparison: comparisonOf(ledger),
    followUps: rows,
    cleanup: rows.filter(({ kind }) => CLEANUP.includes(kind)).map(({ id }) => id),
    rotation: rotationOf(entries, options.history ?? ledger, { checks, approvals }),
    custody,
    decisions: decisionsOf(entries),
    mayApprove: mayApproveOf(entries),
    approvals,
    deviations: deviationsOf(entries, followUps),
    issues: issuesOf(entries),
    changes: changesOf(entries),
    entries: linesOf(all),
    ledger: linesOf(ledger),
    evidence: evidenceOf(all, options),
    blanks: blanksFor(run.runbook, { hasTarget: run.target !== undefined, hasCustody: custody.length > 0 }),
    signOff: SIGN_OFF,
  };
  return Report.parse(cleaned(report));
}

/** These follow-ups remove what the run has left behind. */
const CLEANUP = ['remove-target', 'old-binding', 'retire-key'];

const KINDS = { LIVE: 'real', REHEARSAL: 'rehearsal' } as const;

function runOf(entries: readonly Entry[]): Report['run'] {
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
    plan: started?.plan,
    tool: started?.tool,
    entries: entries.length,
  };
}

/** If applications were left without the data, the recovery is not proven, whatever the run itself says. */
function outcomeOf(entries: readonly Entry[], all: readonly WrittenFollowUp[]): Report['outcome'] {
  const closed = find(entries, 'run.closed')?.body;
  const abandoned = find(entries, 'run.abandoned')?.body;
  const followUps = stillOpen(all).length;
  if (closed !== undefined) {
    const text = closed.title ?? closed.outcome;
    const proven = closed.proven && leftUnbound(all).length === 0;
    const { simulated, failure } = closed;
    return { status: 'closed', proven, simulated, text, failure: failure?.shortMessage, followUps };
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

function measuredOf(measures: Measures): Measured {
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

/** Each with its owner, how long it was open, how it was closed and by what proof. */
export function followUpRows(entries: readonly Entry[], all: readonly WrittenFollowUp[]): FollowUpRow[] {
  const operator = find(entries, 'run.started')?.body.operator ?? 'unknown';
  const last = entries.at(-1)?.at;
  return all.map(({ id, kind, subject, what, owner, since, dueSeconds, closed }) => {
    const until = closed === undefined ? last : closed.at;
    const seconds = (msOf(until) - msOf(since)) / 1000;
    return {
      ...{ id, kind, subject, what, since, dueSeconds },
      owner: owner ?? operator,
      openSeconds: Number.isFinite(seconds) ? seconds : undefined,
      closed: closed === undefined ? undefined : { how: closed.how, at: closed.at, text: closed.text },
      proofs: Object.entries(closed?.evidence ?? {}).flatMap(([name, value]) => idsOf(name, value)),
    };
  });
}

/** The given ones, else those of the run's last entry. One that a person closed has that answer's time. */
function followUpsOf(
  entries: readonly Entry[],
  given: readonly WrittenFollowUp[] | undefined,
): readonly WrittenFollowUp[] {
  const all = given ?? find(entries, 'run.closed')?.body.followUps ?? [];
  const said = findAll(entries, 'event').filter(({ body }) => SAID.includes(body.event.type));
  return all.map((followUp) => {
    const { id, closed } = followUp;
    const at = closed?.at ?? said.find(({ body }) => body.event['id'] === id)?.entry.at;
    return closed === undefined || at === undefined ? followUp : { ...followUp, closed: { ...closed, at } };
  });
}

const SAID = ['operator.reportDone', 'operator.skip'];

/** The steps of a rebinding each have their own evidence: `bind job`. */
function idsOf(label: string, value: Json): FollowUpRow['proofs'] {
  if (Array.isArray(value)) {
    const all = value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    return [{ label, value: all.join(', ') }];
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([part, inner]) => idsOf(`${label} ${part}`, inner));
  return [{ label, value: String(value) }];
}
