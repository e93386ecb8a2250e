import type { PlanInput } from '../../../machines/parts/plan.ts';
import { msOf } from '../../base/instant.ts';
import type { Entry } from '../../store/journal.ts';
import type { Loss } from '../../store/log/log-entries.ts';
import { timelineOf } from '../measure/timeline.ts';
import { alarmsOf, isPassing, lossAlarm } from '../model/alarms.ts';
import { evidenceOf, linesOf, type RecordProof } from '../model/chain.ts';
import { cleaned } from '../model/cleaned.ts';
import { decisionsOf, SIGN_OFF } from '../model/decided.ts';
import { find, findLast, untilEnd } from '../model/model-rows.ts';
import { approvalsOf, peopleOf } from '../model/people.ts';
import { planGroup } from './plan-groups.ts';
import type { ReportedChild, WordedGroup } from './plan-lanes.ts';
import { type PlanMoment, planDeviations, planMoments, wordIn } from './plan-moments.ts';
import { rpoOfLanes, rtoOfPlan } from './plan-objectives.ts';
import { type PlanDeviation, type PlanGroup, PlanReport } from './plan-report.ts';
import { requirementsOf } from './requirements.ts';

export interface PlanReportSource extends RecordProof {
  readonly entries: readonly Entry[];
  /** The entries of `plan/RUN`: what people decided while another process drove the plan. */
  readonly wishes: readonly Entry[];
  readonly input: PlanInput;
  /** The groups of the plan with those of its last two phases, in order. */
  readonly groups: readonly WordedGroup[];
  /** In the order in which they began. */
  readonly children: readonly ReportedChild[];
  readonly losses?: readonly Loss[];
}

/** The record of a plan's run from its entries and the reports of its children alone. Pure. */
export function buildPlanReport(source: PlanReportSource): PlanReport {
  const { input, children } = source;
  const entries = untilEnd(source.entries);
  const started = find(entries, 'run.started');
  const moments = planMoments(entries, source.wishes);
  const timeline = timelineOf(entries);
  const over = find(entries, 'run.closed') ?? find(entries, 'run.abandoned');
  const startedAt = entries[0]?.at ?? '';
  const incidentAt = incidentIn(input, startedAt);
  const until =
    over?.entry.at ?? lastOf([entries.at(-1)?.at, ...children.map(({ report }) => report.lastAt)]);
  const span = { from: incidentAt ?? startedAt, until, isOver: over !== undefined };
  const sources = moments
    .filter(({ type }) => type === 'operator.setSource')
    .map((one) => wordIn(one, 'source'));
  const lastSource = (sources.at(-1) as PlanInput['source'] | undefined) ?? input.source;
  const facts = { ...span, input, moments, children, source: lastSource };
  const groups = source.groups
    .filter(({ group }) => group.lanes.length > 0)
    .map((worded) => planGroup(worded, facts));
  const outcome = outcomeOf(entries);
  const isUnproven = outcome.status === 'closed' && outcome.proven !== true;
  const {
    rto,
    until: measuredUntil,
    status,
  } = rtoOfPlan(groups, { ...span, isUnproven }, input.plan.objectives.rto);
  const rpo = rpoOfLanes(children, input.plan.objectives.rpo);
  const ms = msOf(over?.entry.at) - msOf(startedAt) - (timeline?.clockMovedMs ?? 0);
  const base = {
    schema: 'lifeboat.plan-report/1' as const,
    generatedAt: source.generatedAt.toISOString(),
    title: `plan ${input.plan.plan}`,
    alarms: [
      ...(source.losses ?? []).map(lossAlarm),
      ...alarmsOfPlan(source.entries),
      ...alarmsOfChildren(children, moments),
    ],
    run: {
      id: entries[0]?.stream.replace(/^run\//u, '') ?? 'none',
      plan: input.plan.plan,
      sha256: input.sha256,
      kind: input.rehearsal ? ('rehearsal' as const) : ('real' as const),
      source: lastSource,
      operator: started?.body.operator ?? 'unknown',
      incidentAt,
      startedAt,
      endedAt: over?.entry.at,
      seconds: ms >= 0 ? ms / 1000 : undefined,
      clockMoved: timeline?.clockSetBack === true || (timeline?.clockMovesMs.length ?? 0) > 0,
      tool: started?.body.tool ?? { name: 'unknown', version: 'unknown', node: 'unknown' },
      entries: source.entries.length,
    },
    outcome,
    asked: askedOf(input),
    measured: {
      status,
      since: incidentAt === undefined ? ('run' as const) : ('incident' as const),
      from: span.from,
      until: measuredUntil,
      rto,
      rpo,
    },
    groups,
    people: peopleOf(entries, []),
    approvals: [
      ...approvalsOf(entries).map((one) => ({ ...one, run: started?.entry.stream.slice(4) ?? '' })),
      ...children.flatMap(({ runId, report }) => report.approvals.map((one) => ({ ...one, run: runId }))),
    ],
    decisions: decisionsOf(entries),
    deviations: [
      ...planDeviations(moments),
      ...continuedWithout(source.groups, groups),
      ...ofChildren(children),
    ].toSorted((one, other) => one.at.localeCompare(other.at)),
    undo: undoOf(source.groups, groups),
    followUps: children.flatMap(({ runId, report }) =>
      report.followUps.map(({ what, owner, closed }) => ({
        run: runId,
        what,
        owner,
        closed: closed === undefined ? undefined : `${closed.how}: ${closed.text}`,
      })),
    ),
    reconciliations: children.flatMap(({ runId, report }) => reconciliationsOf(runId, report)),
    open: openOf(outcome, groups, children),
    entries: linesOf(source.entries),
    evidence: evidenceOf(source.entries, source),
    blanks: BLANKS,
    signOff: SIGN_OFF,
  };
  const clean = cleaned({ ...base, requirements: requirementsOf(base) });
  return PlanReport.parse(clean);
}

/** Alarms of the plan's own run with one title are one: each is among the deviations. */
function alarmsOfPlan(entries: readonly Entry[]): PlanReport['alarms'] {
  const all = alarmsOf(entries, []);
  return [...Map.groupBy(all, ({ title }) => title)].flatMap(([title, some]) => {
    const [first] = some;
    if (first === undefined || some.length <= MAX_ALIKE) return some;
    const texts = some.slice(0, MAX_NAMED).map(({ text }) => text);
    const more = some.length - texts.length;
    const text = [...texts, ...(more === 0 ? [] : [`${more} more`])].join('; ');
    return [{ ...first, title: `${title} (${some.length} times)`, text }];
  });
}

/** Alarms of many runs with one title are one: each is in the report of its run. */
function alarmsOfChildren(
  children: readonly ReportedChild[],
  moments: readonly PlanMoment[],
): PlanReport['alarms'] {
  const passed = new Set(
    moments
      .filter(({ type }) => type === 'operator.skipStep' || type === 'operator.doneOutside')
      .map((one) => ['group', 'lane', 'step'].map((field) => wordIn(one, field)).join('/')),
  );
  const all = children.flatMap(({ runId, runbook, report, group, lane, step }) => {
    // The plan has passed it on with the words of the person, and says it itself.
    const isSaid = runbook === 'plan-step' && passed.has(`${group}/${lane}/${step}`);
    return report.alarms
      .filter((alarm) => !alarm.title.startsWith('ENTRIES LOST') && !(isSaid && isPassing(alarm)))
      .map((alarm) => ({ runId, alarm }));
  });
  return [...Map.groupBy(all, ({ alarm }) => alarm.title)].flatMap(([title, some]) => {
    const [first] = some;
    if (first === undefined) return [];
    if (some.length <= MAX_ALIKE)
      return some.map(({ runId, alarm }) => ({ ...alarm, title: `${title} (run ${runId})` }));
    const text = `the first of them, in run ${first.runId}: ${first.alarm.text}`;
    return [{ ...first.alarm, title: `${title} (${some.length} times)`, text }];
  });
}

const MAX_ALIKE = 2;
const MAX_NAMED = 5;

function lastOf(times: readonly (string | undefined)[]): string {
  return (
    times
      .flatMap((time) => time ?? [])
      .toSorted()
      .at(-1) ?? ''
  );
}

function incidentIn(input: PlanInput, startedAt: string): string | undefined {
  const { incidentAt } = input as { readonly incidentAt?: unknown };
  return typeof incidentAt === 'string' && msOf(incidentAt) <= msOf(startedAt) ? incidentAt : undefined;
}

function outcomeOf(entries: readonly Entry[]): PlanReport['outcome'] {
  const closed = find(entries, 'run.closed')?.body;
  if (closed !== undefined)
    return { status: 'closed', proven: closed.proven, text: closed.title ?? closed.outcome };
  const abandoned = find(entries, 'run.abandoned')?.body;
  if (abandoned !== undefined) return { status: 'abandoned', text: abandoned.reason };
  const at = findLast(entries, 'event')?.body;
  return { status: 'open', text: at?.title ?? at?.to ?? 'just begun' };
}

function askedOf({ plan, groups }: PlanInput): PlanReport['asked'] {
  const lanes = groups.flatMap((group) => (group.for === undefined ? [] : group.lanes));
  const scope = [...new Map(lanes.map(({ name, target }) => [name, { instance: name, target }])).values()];
  const { about, activation, deactivation, contacts } = plan;
  return { purpose: about, activation, deactivation, contacts: [...contacts], scope };
}

/** Failed steps that the plan itself continues without. */
function continuedWithout(
  worded: readonly WordedGroup[],
  groups: readonly PlanGroup[],
): readonly PlanDeviation[] {
  const steps = worded.flatMap(({ group }) => group.steps.map((step) => ({ group: group.id, step })));
  return groups.flatMap(({ id, lanes }) =>
    lanes.flatMap((lane) =>
      lane.steps.flatMap((row): PlanDeviation[] => {
        const found = steps.find(({ group, step }) => group === id && step.id === row.id)?.step;
        const isLeft = row.state === 'open' && lane.state === 'left open';
        if (!(row.state === 'failed' || isLeft) || found?.onFailure !== 'continue') return [];
        const { startedAt = '', endedAt: at = startedAt, cause, where } = row.runs.at(-1) ?? {};
        const why = isLeft ? `its run was left open: ${where ?? ''}` : cause && `it failed: ${cause}`;
        const reason = [found.because, why].filter((text) => text !== undefined).join('; ');
        return [
          { at, by: 'the plan', kind: 'continued without', what: `${id}/${lane.name}/${row.id}`, reason },
        ];
      }),
    ),
  );
}

function ofChildren(children: readonly ReportedChild[]): readonly PlanDeviation[] {
  return children.flatMap(({ group, lane, step, report, startedAt, endedAt, runId }) =>
    report.deviations
      .filter(({ kind }) => kind !== 'resumed')
      .map(({ kind, what, reason }): PlanDeviation => {
        const place = `${group}/${lane}/${step}`;
        const by = report.operator ?? 'unknown';
        return {
          at: endedAt ?? startedAt,
          by,
          kind: 'in a step',
          what: `${place}: ${kind}: ${what} (run ${runId})`,
          reason,
        };
      }),
  );
}

function undoOf(worded: readonly WordedGroup[], groups: readonly PlanGroup[]): PlanReport['undo'] {
  return worded.flatMap(({ group, words, phase }) => {
    const lanes = groups.find(({ id }) => id === group.id)?.lanes ?? [];
    return group.steps
      .filter(({ kind }) => phase !== 'healthy' && kind !== 'wait' && kind !== 'check' && kind !== 'approve')
      .filter(({ id }) =>
        lanes.some(({ steps }) => steps.some((row) => row.id === id && row.runs.length > 0)),
      )
      .map(({ id, undo }) => ({
        group: group.id,
        step: id,
        what: words[id] ?? id,
        undo: typeof undo === 'object' ? `by hand: ${undo.manual.do}` : undo,
      }));
  });
}

function reconciliationsOf(run: string, report: ReportedChild['report']): PlanReport['reconciliations'] {
  return [
    ...report.checks.map(({ at, what, verdict, good }) => ({ run, at, what: `${what}: ${verdict}`, good })),
    ...report.reconciliation.map(({ at, when, newest, count, said }) => ({
      run,
      at,
      what: `the data ${when} the recovery: ${said === '' ? `newest ${newest}, ${count} records` : said}`,
    })),
  ];
}

/** Everything still open, in sentences without a full stop. */
function openOf(
  { status, text }: PlanReport['outcome'],
  groups: readonly PlanGroup[],
  children: readonly ReportedChild[],
): string[] {
  const run = status === 'open' ? [`the run of the plan: ${text}`] : [];
  const lanes = groups.flatMap(({ id, lanes: all }) =>
    all
      .filter(({ state }) => state !== 'done' && state !== 'not begun')
      .map(({ name, state }) => (name === '-' ? `${id}: ${state}` : `${name} in ${id}: ${state}`)),
  );
  const ahead = groups.flatMap((group) => (status === 'open' ? notBegun(group) : []));
  const waiting = groups.flatMap(({ id, held, ended }) => {
    const last = held.at(-1);
    return ended === undefined && last !== undefined && status === 'open'
      ? [`the group ${id}: ${last.why}`]
      : [];
  });
  const runs = children
    .filter(({ result }) => result === undefined)
    .map(({ runId, where = 'just begun' }) =>
      status === 'open'
        ? `run ${runId}: ${where}`
        : `run ${runId} was left open: ${where}; to go on: lifeboat resume ${runId}`,
    );
  const followUps = children.flatMap(({ runId, report }) =>
    report.followUps
      .filter(({ closed }) => closed === undefined)
      .map(({ what }) => `a follow-up of run ${runId}: ${what}`),
  );
  return [...run, ...waiting, ...lanes, ...ahead, ...runs, ...followUps];
}

/** Of an open run: a whole group, or its instances of later waves. */
function notBegun({ id, lanes }: PlanGroup): string[] {
  const ahead = lanes.filter(({ state }) => state === 'not begun').map(({ name }) => name);
  if (ahead.length === 0) return [];
  if (ahead.length === lanes.length) return [`${id}: not begun`];
  const more = ahead.length - MAX_NAMED;
  return [`${id}: not begun on ${ahead.slice(0, MAX_NAMED).join(', ')}${more > 0 ? `, ${more} more` : ''}`];
}

const BLANKS: PlanReport['blanks'] = [
  ['asked', 'Put into force by, on'],
  ['asked', 'Plan approved by, on'],
  ['asked', 'Plan last reviewed on'],
  ['asked', 'Required resources: people, rooms, networks, licences (NIS2 annex 4.1.2)'],
  ['asked', 'How the targets are segregated from the sources, physically and logically (DORA Art. 12(3))'],
  ['people', 'Observers'],
  ['people', 'Further participants and their roles'],
  ['objectives', 'Objectives set by'],
  ['return', 'Normal operation is back since, decided by'],
  ['issues', 'Causes, lessons and corrective actions, each with an owner and a due date'],
  ['signOff', 'Next exercise of this plan due'],
].map(([part, label]) => ({
  in: part as PlanReport['blanks'][number]['in'],
  label: label ?? '',
  value: null,
}));
