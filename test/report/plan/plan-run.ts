import type { PlanInput } from '../../../machines/parts/plan.ts';
import { wordedGroups } from '../../../src/commands/plans/plan-report-of.ts';
import { readPlan } from '../../../src/plans/plan-file.ts';
import { resolvePlan } from '../../../src/plans/resolve.ts';
import type { Report } from '../../../src/report/model/model.ts';
import { buildPlanReport } from '../../../src/report/plan/build-plan-report.ts';
import { childReport } from '../../../src/report/plan/child-report.ts';
import type { ReportedChild } from '../../../src/report/plan/plan-lanes.ts';
import type { PlanReport } from '../../../src/report/plan/plan-report.ts';
import { buildReport } from '../../../src/report/report.ts';
import { canonicalBody, hashOf } from '../../../src/store/canonical.ts';
import type { Entry, Json, NewEntry } from '../../../src/store/journal.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { surroundingsWith } from '../../plans/surroundings.ts';

export const PLAN = `plan: west
about: the databases of the west move
activation: the head of operations, when the site is lost
deactivation: the head of operations, when the sources are back
contacts: [{ name: Ada, role: head of operations, reach: "+49 1" }]
objectives: { rto: 30m, rpo: 1h }
groups:
  - id: data
    for: { instances: [db-1, db-4], target: "{name}-dr" }
    waves: [1]
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
      - { id: switch, command: { argv: [./switch], kind: repeatable }, undo: { manual: { do: switch back } } }
  - id: people
    after: [data]
    steps:
      - { id: tell, manual: { do: tell everybody }, undo: none; told is told }
healthy: [{ tcp: "127.0.0.1:5432" }]
`;

const RUN = '01P';
const START = Date.UTC(2026, 2, 1, 3);

/** The time this many seconds after the start. */
export function at(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString();
}

/** What a run of that text begins with. */
export function inputOf(text = PLAN): PlanInput {
  const { plan, sha256 } = readPlan(text, 'plans/west.yaml');
  const { groups } = resolvePlan(plan, surroundingsWith(6));
  const { groups: _, ...rest } = plan;
  return { plan: rest, groups, text, sha256, rehearsal: false, source: 'up' };
}

type Timed = readonly [seconds: number, event: Record<string, Json>, by?: string];

/** Entries of the plan's run: its begin, and these events. */
export function planEntries(
  input: PlanInput,
  events: readonly Timed[],
  end?: number,
  proven = true,
): Entry[] {
  const first = runEntry(RUN, 'run.started', {
    runbook: 'plan',
    version: '1',
    instance: `plan.${input.plan.plan}`,
    input: JSON.parse(JSON.stringify(input)),
    mode: 'LIVE',
    tool: { name: 'lifeboat', version: '0.1.0', node: '24.21.0' },
    operator: 'Ada',
  });
  const written: (readonly [number, NewEntry, string])[] = [
    [0, first, 'ada'],
    ...events.map(([seconds, event, by]) => {
      const body = { event, to: 'groups', title: 'recover group by group' };
      return [seconds, runEntry(RUN, 'event', body as never), by ?? 'ada'] as const;
    }),
    ...(end === undefined ? [] : [[end, runEntry(RUN, 'run.closed', closedWith(proven)), 'ada'] as const]),
  ];
  return stored(written);
}

function closedWith(proven: boolean) {
  return {
    outcome: proven ? 'done' : 'done-unproven',
    title: 'plan west has ended',
    proven,
    summary: [],
    deviations: [],
  };
}

function stored(written: readonly (readonly [number, NewEntry, string])[]): Entry[] {
  return written.map(([seconds, entry, by], index) => {
    const fields = { ...entry, seq: index + 1, at: at(seconds), by };
    const hash = hashOf({ ...fields, body: canonicalBody(entry.body, 'an entry') });
    return { ...fields, index, hash } as Entry;
  });
}

interface ChildWish {
  readonly group: string;
  readonly lane: string;
  readonly step: string;
  readonly from: number;
  readonly until?: number;
  readonly result?: 'done' | 'failed';
  readonly attempt?: number;
  /** Seconds that it lost, as its own report measures them. */
  readonly lost?: number;
}

/** A child with its entries and its own report, whole. */
type Child = ReportedChild & { readonly whole: Report; readonly entries: readonly Entry[] };

export function child({ group, lane, step, from, until, result, attempt = 1, lost }: ChildWish): Child {
  const runId = `01C-${group}-${lane}-${step}-${attempt}`.replaceAll('--', '-');
  const start = runEntry(runId, 'run.started', {
    runbook: 'disaster-recovery',
    version: '1',
    instance: lane,
    input: {},
    mode: 'LIVE',
    tool: { name: 'lifeboat', version: '0.1.0', node: '24.21.0' },
    operator: 'Ada',
  });
  const entries = stored([[from, start, 'ada']]);
  const report = buildReport(entries, { generatedAt: new Date(START) });
  const whole = { ...report, measured: lost === undefined ? undefined : measuredWith(lost) };
  return {
    ...{ runId, group, lane, step, attempt, runbook: 'disaster-recovery', startedAt: at(from) },
    ...(until === undefined ? {} : { endedAt: at(until) }),
    ...(result === undefined ? {} : { result }),
    ...{ whole, entries },
    report: childReport(whole),
  };
}

function measuredWith(lost: number): Report['measured'] {
  return {
    ...{ status: 'over', since: 'run', from: at(0), until: at(60), restores: true, notes: [] },
    slices: { decide: 0, queue: 0, execute: 0, human: 0, rebind: 0 },
    rto: { measuredSeconds: 60, result: 'met' },
    rpo: { measuredSeconds: lost, result: 'met' },
  };
}

/** The record of a plan's run. */
export function reportOn(
  entries: readonly Entry[],
  children: readonly ReportedChild[],
  input = inputOf(),
  wishes: readonly Entry[] = [],
): PlanReport {
  const groups = wordedGroups(input);
  return buildPlanReport({ entries, wishes, input, groups, children, generatedAt: new Date(START) });
}

/** A run in which everything went well, from its begin to its end 20 minutes later. */
export const WELL: readonly Timed[] = [
  [1, { type: 'plan.evaluated', lanes: [] }],
  [10, { type: 'group.begun', group: 'data' }],
  [10, { type: 'wave.begun', group: 'data', wave: 1 }],
  [300, { type: 'wave.begun', group: 'data', wave: 2 }],
  [700, { type: 'group.ended', group: 'data', how: 'done' }],
  [700, { type: 'group.begun', group: 'people' }],
  [700, { type: 'wave.begun', group: 'people', wave: 1 }],
  [900, { type: 'group.ended', group: 'people', how: 'done' }],
  [900, { type: 'group.begun', group: 'healthy' }],
  [1000, { type: 'group.ended', group: 'healthy', how: 'done' }],
];

export const CHILDREN: readonly Child[] = [
  child({ group: 'data', lane: 'db-1', step: 'recover', from: 10, until: 200, result: 'done', lost: 120 }),
  child({ group: 'data', lane: 'db-1', step: 'switch', from: 200, until: 290, result: 'done' }),
  child({ group: 'data', lane: 'db-4', step: 'recover', from: 300, until: 600, result: 'done', lost: 600 }),
  child({ group: 'data', lane: 'db-4', step: 'switch', from: 600, until: 690, result: 'done' }),
  child({ group: 'people', lane: '-', step: 'tell', from: 700, until: 890, result: 'done' }),
  child({ group: 'healthy', lane: '-', step: 'healthy-1', from: 900, until: 950, result: 'done' }),
];
