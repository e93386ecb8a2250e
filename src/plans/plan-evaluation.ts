import type { PlanInput, ResolvedGroup } from '../../machines/parts/plan.ts';
import type { Approver } from '../approvals/approvers.ts';
import { PLAN_CHECK_IDS, type PlanCheckId } from '../base/check-id.ts';
import { counted, formatSeconds, formatTime } from '../base/format.ts';
import { instantOf, msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { type Found, fitOfTarget, green, red, unknown, without } from './checks.ts';
import { answerAt, type EvaluatedInstances } from './evaluate.ts';
import type { InstanceVerdict, PlanCheck, PlanEvaluation } from './evaluation-schema.ts';
import { type Forecast, shownForecast } from './forecast.ts';
import { DRILL_SHARE, PERIODS, type Period, SIGNED_PERIOD } from './periods.ts';
import { targetOf } from './resolve.ts';

export interface PlanKnown {
  readonly name: string;
  /** With its instances; `problem`, one printable line, if it cannot be run. */
  readonly file: PlanRead | { readonly problem: string };
  /** Instances and targets; a missing one was not asked. */
  readonly evaluated: EvaluatedInstances;
  /** The newest proven run, with what it had pinned. */
  readonly lastProven?: ProvenPlan | undefined;
  /** Each person who may approve once; `problem` if that cannot be read. */
  readonly approvers: readonly Approver[] | { readonly problem: string };
  /** Targets of notifications. */
  readonly notified: readonly string[];
  /** Names of the person who would start it. */
  readonly starter: readonly string[];
}

interface PlanRead extends Pick<PlanInput, 'plan' | 'groups'> {
  /** Identify the plan with its instances, without its contacts. */
  readonly digests: Readonly<Record<'LIVE' | 'REHEARSAL', string>>;
  /** Undefined if it could be rehearsed. */
  readonly unrehearsable: string | undefined;
  /** By earlier runs. */
  readonly forecast: Forecast;
}

/** With the digest of what it had pinned. */
export interface ProvenPlan {
  readonly runId: string;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** RFC 3339. */
  readonly at: string;
  readonly digest: string;
}

/**
 * At a moment: the worst of its instances, and its own checks. Proven when each instance is and the plan, as
 * it is now, was run to a proven end within its `drill.every`. Pure.
 */
export function evaluatePlan(known: PlanKnown, now: Date): PlanEvaluation {
  const { name, file, evaluated } = known;
  const nowMs = now.getTime();
  const names = 'problem' in file ? [] : instancesOf(file.groups);
  const verdicts = names.map((instance): Verdict => {
    const { verdict, reason } = evaluated.get(instance) ?? UNASKED;
    return { instance, verdict, reason };
  });
  const checks = PLAN_CHECK_IDS.map((id) => planCheck(id, { known, verdicts, nowMs }));
  const against = checks.filter(
    ({ id, state }) => id !== 'rehearsed' && state !== 'green' && state !== 'not-applicable',
  );
  const worst = against.find(({ state }) => state === 'red') ?? against[0];
  const rehearsed = checks.find(({ id }) => id === 'rehearsed');
  const isProven = rehearsed?.state === 'green' && verdicts.every(({ verdict }) => verdict === 'proven');
  const counts = countsOf(verdicts);
  return {
    plan: name,
    ...(worst === undefined
      ? { verdict: isProven ? 'proven' : 'ready', reason: readyReason(rehearsed, verdicts) }
      : { verdict: worst.state === 'red' ? 'not-ready' : 'unknown', reason: worst.reason }),
    counts,
    checks,
    instances: verdicts,
    ...('problem' in file ? {} : { forecast: shownForecast(file.forecast, file.plan.objectives) }),
  };
}

const UNASKED = { verdict: 'unknown', reason: 'it was not asked' } as const;

type Verdict = { readonly instance: string; readonly verdict: InstanceVerdict; readonly reason: string };

interface Asked {
  readonly known: PlanKnown;
  readonly verdicts: readonly Verdict[];
  readonly nowMs: number;
}

/** Each once. */
export function instancesOf(groups: readonly ResolvedGroup[]): readonly string[] {
  return [
    ...new Set(
      groups.flatMap((group) => (group.for === undefined ? [] : group.lanes.map(({ name }) => name))),
    ),
  ];
}

function planCheck(id: PlanCheckId, asked: Asked): PlanCheck {
  const { known, nowMs } = asked;
  const { file } = known;
  if ('problem' in file && id !== 'file')
    return { id, ...answerAt(without('plan.unread', 'the plan cannot be run'), undefined, nowMs) };
  return { id, ...answerAt(PLAN_ASK[id](asked), 'problem' in file ? undefined : periodOf(id, file), nowMs) };
}

function periodOf(id: PlanCheckId, { plan: { drill } }: PlanRead): Period | undefined {
  if (id === 'rehearsed' && drill !== undefined)
    return { green: drill.every, red: drill.every * DRILL_SHARE };
  if (id === 'rehearsed') return PERIODS.restored;
  if (id === 'people') return SIGNED_PERIOD;
  return id === 'targets' ? PERIODS.target : undefined;
}

const PLAN_ASK: Readonly<Record<PlanCheckId, (asked: Asked) => Found>> = {
  file: ({ known: { file } }) =>
    'problem' in file ? red('plan.unread', file.problem) : fixed('it fits lifeboat.yaml'),
  instances,
  targets,
  time,
  people,
  rehearsed,
};

function instances({ verdicts }: Asked): Found {
  const first = (wanted: InstanceVerdict) => verdicts.find(({ verdict }) => verdict === wanted);
  const bad = first('not-ready');
  if (bad !== undefined) return red('instance.not-ready', `${bad.instance}: ${bad.reason}`);
  const open = first('unknown') ?? first('empty');
  if (open !== undefined) return unknown('instance.unknown', `${open.instance}: ${open.reason}`);
  return verdicts.length === 0
    ? without('instance.none', 'it has no instances')
    : fixed(`${counted(verdicts.length, 'instance')} could be recovered`);
}

/** Each target that the plan overwrites is there, of the same service and plan, and empty. */
function targets({ known: { file, evaluated }, nowMs }: Asked): Found {
  const lanes = ('problem' in file ? [] : file.groups).flatMap((group) =>
    group.lanes.map((lane) => ({ name: lane.name, target: targetOf(group, lane) })),
  );
  const found = lanes.flatMap(({ name, target }) => {
    const source = evaluated.get(name);
    if (target === undefined || source === undefined) return [];
    const other = evaluated.get(target);
    return [
      other === undefined
        ? unknown('unasked', `target ${target} was not asked`)
        : fitOfTarget(source, other, nowMs),
    ];
  });
  const worst = found.find(({ state }) => state === 'red') ?? found.find(({ state }) => state === 'unknown');
  if (worst !== undefined) return worst;
  if (found.length === 0) return without('target.none', 'the plan recovers nothing into a target');
  return green(
    `${counted(found.length, 'target')} there and empty`,
    Math.min(...found.map(({ askedAt = 0 }) => askedAt)),
  );
}

/** The critical path by earlier runs meets the recovery time objective. */
function time({ known: { file } }: Asked): Found {
  if ('problem' in file) return without('plan.unread', file.problem);
  const { plan, forecast } = file;
  const { rto } = plan.objectives;
  if (rto === undefined) return without('rto.none', 'the plan names no recovery time objective');
  const { totalMs, path, unknown: untimed, steps } = forecast;
  const words = `${formatSeconds(totalMs / 1000)} by way of ${path.join(', ')}, and the RTO is ${formatSeconds(rto / 1000)}`;
  if (totalMs > rto) return red('rto.too-long', `it takes ${words}`);
  return untimed > 0
    ? unknown(
        'rto.unknown',
        `how long it takes is unknown: ${untimed} of ${steps} steps have not been run before`,
      )
    : fixed(`it takes ${words}`);
}

/**
 * Notifications have a target, and enough people may approve, without the starter if the plan says so. An
 * approval shows that people have their keys: the answer is as old as the oldest one needed.
 */
function people({ known: { file, approvers, starter, notified } }: Asked): Found {
  if ('problem' in file) return without('plan.unread', file.problem);
  const { plan, groups } = file;
  const steps = [...groups.flatMap((group) => group.steps), ...(plan.finally?.steps ?? [])];
  const tells = steps.find(({ kind }) => kind === 'notify');
  if (tells !== undefined && notified.length === 0)
    return red('notify.nobody', `step ${tells.id} tells nobody: lifeboat.yaml notifies no target`);
  const wanted = [
    plan.approve,
    ...steps.map((step) => (step.kind === 'approve' ? step.approve : undefined)),
  ].filter((one) => one !== undefined);
  if (wanted.length === 0) return without('approval.none', 'nobody has to approve it');
  if ('problem' in approvers) return red('approval.nobody', approvers.problem);
  const shown: number[] = [];
  let open: Found | undefined;
  for (const { quorum, of, notBy } of wanted) {
    const able = approvers.filter(
      ({ names }) =>
        (of === undefined || names.some((one) => of.includes(one))) &&
        !(notBy === 'starter' && names.some((one) => starter.includes(one))),
    );
    if (able.length < quorum)
      return red(
        'approval.too-few',
        `${able.length} of ${counted(quorum, 'person', 'people')} who have to approve can do so`,
      );
    const times = able
      .flatMap(({ shownAt }) => instantOf(shownAt) ?? [])
      .toSorted((one, other) => other - one);
    const needed = times[quorum - 1];
    if (needed !== undefined) shown.push(needed);
    else
      open ??= unknown(
        'approval.unshown',
        `${Math.min(times.length, quorum)} of ${counted(quorum, 'person', 'people')} who have to approve ` +
          'ever signed an approval with a key that is listed now',
      );
  }
  return open ?? green('enough people can approve it, and have signed an approval', Math.min(...shown));
}

/** The plan as it is now was run to a proven end, as a rehearsal or live. */
function rehearsed({ known: { file, lastProven } }: Asked): Found {
  if ('problem' in file) return without('plan.unread', file.problem);
  const found = rehearsedBy(file, lastProven);
  if (file.unrehearsable === undefined) return found;
  return { ...found, reason: `${found.reason}; it cannot be rehearsed now: ${file.unrehearsable}` };
}

function rehearsedBy(file: PlanRead, lastProven: ProvenPlan | undefined): Found {
  if (lastProven === undefined) return red('rehearsal.never', 'the plan was never run to a proven end');
  const { runId, mode, at } = lastProven;
  const words = `${mode === 'LIVE' ? 'run' : 'rehearsed'} on ${formatTime(at)} UTC by run ${show(runId, 40)}`;
  const askedAt = msOf(at);
  if (file.digests[mode] !== lastProven.digest)
    return red('rehearsal.changed', `${words}, and the plan changed since`, askedAt);
  return green(words, askedAt);
}

/** Does not age: read from the files at hand. */
function fixed(reason: string): Found {
  return { state: 'green', code: 'ok', reason };
}

function readyReason(rehearsal: PlanCheck | undefined, verdicts: readonly Verdict[]): string {
  const open = verdicts.find(({ verdict }) => verdict !== 'proven');
  if (rehearsal?.state !== 'green' || open === undefined) return rehearsal?.reason ?? '';
  return `${open.instance}: ${open.reason}`;
}

function countsOf(verdicts: readonly Verdict[]): PlanEvaluation['counts'] {
  const count = (wanted: InstanceVerdict) => verdicts.filter(({ verdict }) => verdict === wanted).length;
  return {
    proven: count('proven'),
    ready: count('ready'),
    'not-ready': count('not-ready'),
    unknown: count('unknown'),
    empty: count('empty'),
  };
}
