import { FINALLY, type Lane, type ResolvedGroup, type Step } from '../../machines/parts/plan.ts';
import {
  type GroupData,
  type GroupEvent,
  type GroupResult,
  type GroupState,
  NEW_GROUP,
} from '../../machines/parts/plan-events.ts';

/**
 * `at-work` acts by itself; `waiting` asks a person; `failing` asks about a failure; the others have ended. A
 * run that ended without proof has failed: it shows nothing.
 */
export type ChildState = 'at-work' | 'waiting' | 'failing' | 'done' | 'failed';

/** One run of a plan's step on one lane. */
export interface Child {
  readonly group: string;
  readonly step: string;
  readonly lane: string;
  /** From 1; a person may ask for another one. */
  readonly attempt: number;
  readonly state: ChildState;
  /** Milliseconds since 1970. */
  readonly startedMs?: number | undefined;
  readonly endedMs?: number | undefined;
  /** `failing` only because it takes longer than its step allows: no question is asked. */
  readonly isLate?: boolean | undefined;
  /** Asks, and the plan has left it: the process that resumes it goes on with it. */
  readonly isLeft?: boolean | undefined;
  /** This process could not take it up, and it is at work by the record. */
  readonly holdsSlot?: boolean | undefined;
}

/** Its state, and the record of its lanes. */
export interface GroupRecord extends GroupData {
  readonly state: GroupState;
}

/** Everything that decides what may start. */
export interface PlanFacts {
  readonly groups: readonly ResolvedGroup[];
  readonly records: Readonly<Record<string, GroupRecord>>;
  readonly children: readonly Child[];
  readonly source: 'up' | 'down';
  readonly rehearsal: boolean;
  readonly nowMs: number;
}

export interface Start {
  readonly group: string;
  readonly step: string;
  readonly lane: string;
  readonly attempt: number;
}

/** Unique among the children of a plan's run. */
export function keyOf({ group, lane, step, attempt }: Start): string {
  return `${group}/${lane}/${step}#${attempt}`;
}

/** Events to record first, or children to start. */
export interface Next {
  readonly events: readonly GroupEvent[];
  readonly starts: readonly Start[];
  /** When the plan goes on by time alone. */
  readonly wakeMs: number | undefined;
  /** When the time of a group is over: it then waits for nobody. */
  readonly limitMs: number | undefined;
}

/** `stopped` before a step, and `not-run` before its wave, if its group is over. */
export type LaneState =
  | { readonly is: 'later' | 'not-run' }
  | { readonly is: 'stopped'; readonly step: Step }
  | { readonly is: 'ready'; readonly step: Step; readonly attempt: number }
  | { readonly is: 'at-work' | 'waiting' | 'failing'; readonly step: Step; readonly child: Child }
  | LaneFailure
  | { readonly is: 'out' }
  | { readonly is: 'done'; readonly endedMs: number };

interface LaneFailure {
  readonly is: 'failed';
  readonly step: Step;
  readonly child: Child;
  /** If the plan passes the failure, and the rest is over; otherwise the failure holds the lane. */
  readonly endedMs?: number | undefined;
}

/**
 * The next starts. Pure: the same facts give the same answer, in any order, so limits hold after any restart.
 * Children are counted as the journal shows them; the caller starts what this returns, and asks again with
 * every change.
 */
export function schedule(facts: PlanFacts): Next {
  const parts = facts.groups.map((group) => nextOfGroup(group, facts));
  const events = parts.flatMap((part) => part.events);
  return {
    events,
    starts: events.length > 0 ? [] : parts.flatMap((part) => part.starts),
    wakeMs: earliest(parts.map(({ wakeMs }) => wakeMs)),
    limitMs: earliest(parts.map(({ limitMs }) => limitMs)),
  };
}

const NOTHING: Next = { events: [], starts: [], wakeMs: undefined, limitMs: undefined };
const only = (...events: readonly GroupEvent[]): Next => ({ ...NOTHING, events });

function nextOfGroup(group: ResolvedGroup, facts: PlanFacts): Next {
  const { id } = group;
  const record = recordOf(facts, id);
  const limitMs = limitOf(group, facts);
  const isLate = limitMs !== undefined && facts.nowMs >= limitMs;
  switch (record.state) {
    case 'waiting': {
      const before = group.after.map((name) => recordOf(facts, name).state);
      if (before.some((state) => state === 'stopped' || state === 'notRun'))
        return only({ type: 'group.ended', group: id, how: 'not-run' });
      return before.every((state) => state === 'done') ? only({ type: 'group.begun', group: id }) : NOTHING;
    }
    case 'running':
    case 'held': {
      if (isLate) return only({ type: 'group.stopping', group: id, lanes: [] });
      const next = record.state === 'held' ? NOTHING : running(group, record, facts);
      return { ...next, limitMs };
    }
    case 'stopping': {
      // Does not wait for a person: a child that asks is left as it is, and nothing of it is lost.
      const isUnderWay = facts.children.some((child) => child.group === id && goesOn(child));
      if (isUnderWay) return NOTHING;
      const [start] = id === FINALLY ? untold(group, record, facts) : [];
      return start === undefined
        ? only({ type: 'group.ended', group: id, how: 'stopped' })
        : { ...NOTHING, starts: [start] };
    }
    default:
      return NOTHING;
  }
}

/** Notifications that have not begun: people are told how a plan ended, whatever else was left undone. */
function untold(group: ResolvedGroup, record: GroupRecord, facts: PlanFacts): readonly Start[] {
  const isLeft = ({ id, kind }: Step, lane: string) =>
    kind === 'notify' &&
    !Object.hasOwn(record.passed, `${lane}/${id}`) &&
    !facts.children.some((child) => child.group === group.id && child.lane === lane && child.step === id);
  return group.lanes.flatMap(({ name }) =>
    group.steps
      .filter((step) => isMeant(step, facts) && isLeft(step, name))
      .map((step) => ({ group: group.id, step: step.id, lane: name, attempt: 1 })),
  );
}

/** Milliseconds since 1970; counts from the start of the group's first step. */
function limitOf({ id, timeout }: ResolvedGroup, { children }: PlanFacts): number | undefined {
  if (timeout === undefined) return undefined;
  const starts = children.flatMap((child) =>
    child.group === id && child.startedMs !== undefined ? [child.startedMs] : [],
  );
  return starts.length === 0 ? undefined : Math.min(...starts) + timeout;
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function running(group: ResolvedGroup, record: GroupRecord, facts: PlanFacts): Next {
  const { id, stopAt } = group;
  const lanes = lanesOf(group, facts);
  const named = (found: readonly StandingLane[]) => found.map(({ lane }) => lane.name);
  const isNew = ({ lane }: StandingLane) => !record.accepted.includes(lane.name);
  const failed = lanes.filter((one) => isHeldByFailure(one.state) && isNew(one));
  const stops = failed.filter((one) => onFailureOf(one) === 'stop');
  if (stops.length > 0) return only({ type: 'group.stopping', group: id, lanes: named(stops) });
  const counted = failedLanes(lanes, record, 'ended');
  if (stopAt !== undefined && counted.length >= stopAt)
    return only({ type: 'group.held', group: id, why: 'stop-rule', lanes: named(counted) });
  if (failed.length > 0) return only({ type: 'group.held', group: id, why: 'failed', lanes: named(failed) });
  // A failure with an open question may still turn out well: it holds the group without an entry.
  const isAtRule = stopAt !== undefined && failedLanes(lanes, record, 'all').length >= stopAt;
  const failing = lanes.filter((one) => one.state.is === 'failing' && isNew(one));
  if (isAtRule || failing.some((one) => onFailureOf(one) !== 'continue')) return NOTHING;

  const begun = lanesBegun(group, record.waves);
  const current = lanes.slice(0, begun);
  if (current.every(({ state }) => isEndedLane(state))) {
    if (begun >= group.lanes.length) return only({ type: 'group.ended', group: id, how: 'done' });
    return nextWave(group, record, current, facts);
  }
  return { ...NOTHING, starts: startsOf(group, current) };
}

/** If the last one has settled and, with `promote`, a person let it begin. */
function nextWave(
  group: ResolvedGroup,
  record: GroupRecord,
  before: readonly StandingLane[],
  { nowMs }: PlanFacts,
): Next {
  const { id, settle, promote } = group;
  const wave = record.waves + 1;
  if (wave > 1) {
    const ends = before.flatMap(({ state }) => endOfLane(state) ?? []);
    const settledMs = Math.max(0, ...ends) + settle;
    if (nowMs < settledMs) return { ...NOTHING, wakeMs: settledMs };
    if (promote === 'approve' && record.promoted < wave)
      return only({ type: 'group.held', group: id, why: 'promotion', lanes: [] });
  }
  return only({ type: 'wave.begun', group: id, wave });
}

/**
 * For lanes that begin to work, by a start or by an answer: a lane that waits for a person holds no slot, so
 * it needs one again.
 */
export function freeSlots(group: ResolvedGroup, facts: PlanFacts): number {
  return freeAmong(group, lanesOf(group, facts));
}

function freeAmong({ maxConcurrency }: ResolvedGroup, lanes: readonly StandingLane[]): number {
  return maxConcurrency - lanes.filter(({ state }) => takesSlot(state)).length;
}

function startsOf(group: ResolvedGroup, lanes: readonly StandingLane[]): readonly Start[] {
  let free = freeAmong(group, lanes);
  const starts: Start[] = [];
  const first = group.order === 'by-step' ? firstStep(group, lanes) : undefined;
  for (const { lane, state } of lanes) {
    if (state.is !== 'ready') continue;
    if (first !== undefined && state.step.id !== first) continue;
    const needsSlot = takesSlotWhenAtWork(state.step);
    if (needsSlot && free <= 0) continue;
    if (needsSlot) free -= 1;
    starts.push({ group: group.id, step: state.step.id, lane: lane.name, attempt: state.attempt });
  }
  return starts;
}

function onFailureOf({ state }: StandingLane): Step['onFailure'] | undefined {
  return 'step' in state ? state.step.onFailure : undefined;
}

/** The earliest step that a lane of the wave is at, or is to begin. */
function firstStep({ steps }: ResolvedGroup, lanes: readonly StandingLane[]): string | undefined {
  const at = lanes.flatMap(({ state }) =>
    'step' in state && state.is !== 'failed' ? [steps.indexOf(state.step)] : [],
  );
  return steps[Math.min(...at)]?.id;
}

/** These work on something; waiting for a person or the time takes no slot. */
const NEEDS_SLOT: ReadonlySet<Step['kind']> = new Set(['runbook', 'check', 'command', 'notify']);

/** Counts against `maxConcurrency`. */
export function takesSlotWhenAtWork({ kind }: Step): boolean {
  return NEEDS_SLOT.has(kind);
}

/**
 * A lane that waits for a person takes none. The work of a process that died may be under way at its service:
 * its slot is not free before its run was taken up.
 */
export function takesSlot(state: LaneState): boolean {
  if (!('child' in state) || !takesSlotWhenAtWork(state.step)) return false;
  return state.is === 'at-work' || state.child.holdsSlot === true;
}

/** A child acts by itself: it ends without a person. */
function goesOn({ state, isLate = false, isLeft = false }: Child): boolean {
  return (state === 'at-work' && !isLeft) || isLate;
}

/**
 * A failed step that its plan passes, with a run that can only be resumed by itself: it stays open, and
 * counts as a failure.
 */
function isLeftOpen({ state, isLeft = false }: Child, { onFailure }: Step): boolean {
  return isLeft && state === 'failing' && onFailure === 'continue';
}

/** Undefined before its end, and if a failure holds it or it is out. */
export function endOfLane(state: LaneState): number | undefined {
  return 'endedMs' in state ? state.endedMs : undefined;
}

function isHeldByFailure(state: LaneState): boolean {
  return state.is === 'failed' && state.endedMs === undefined;
}

/** Nothing more happens by itself. A failed lane that was not accepted holds its group. */
function isEndedLane({ is }: LaneState): boolean {
  return is === 'done' || is === 'out' || is === 'failed';
}

/** Lanes with a failed step, also if the group continues without that step. Accepted lanes do not count. */
function failedLanes(
  lanes: readonly StandingLane[],
  { accepted }: GroupRecord,
  which: 'ended' | 'all',
): readonly StandingLane[] {
  return lanes.filter(
    ({ lane, state, hasFailed }) =>
      !accepted.includes(lane.name) && (hasFailed || (which === 'all' && state.is === 'failing')),
  );
}

function isOpenChild({ state }: Child): boolean {
  return state !== 'done' && state !== 'failed';
}

interface StandingLane {
  readonly lane: Lane;
  readonly state: LaneState;
  /** A step has failed that no person has passed. */
  readonly hasFailed: boolean;
}

/** In the first waves. */
function lanesBegun({ sizes }: Pick<ResolvedGroup, 'sizes'>, waves: number): number {
  return sizes.slice(0, waves).reduce((sum, size) => sum + size, 0);
}

/** Every lane with its state. */
export function lanesOf(group: ResolvedGroup, facts: PlanFacts): readonly StandingLane[] {
  const record = recordOf(facts, group.id);
  const byLane = new Map<string, Child>();
  let failures = 0;
  for (const child of facts.children)
    if (child.group === group.id) {
      const key = `${child.lane}/${child.step}`;
      const attempt = record.attempts[key] ?? 1;
      if (child.attempt === attempt || (child.attempt < attempt && standsBefore(child, byLane.get(key))))
        byLane.set(key, child);
      if (child.state === 'failed' || child.isLeft === true) failures += 1;
    }
  const begun = lanesBegun(group, record.waves);
  return group.lanes.map((lane, at) => ({
    lane,
    state: at < begun ? stateOf(lane, group, { record, byLane, facts }) : ahead(lane, record),
    // Most groups have no failure, and a screen asks this of every lane many times a second.
    hasFailed:
      failures > 0 &&
      group.steps.some((step) => {
        const key = `${lane.name}/${step.id}`;
        const child = byLane.get(key);
        if (child === undefined || Object.hasOwn(record.passed, key)) return false;
        return child.state === 'failed' || isLeftOpen(child, step);
      }),
  }));
}

/**
 * An earlier attempt still counts after another was asked for: the next one begins when it has ended, and
 * never if it was done after all. `later`: the attempt known so far.
 */
function standsBefore(child: Child, later: Child | undefined): boolean {
  if (later !== undefined && later.attempt > child.attempt) return false;
  return isOpenChild(child) || child.state === 'done';
}

interface Known {
  readonly record: GroupRecord;
  readonly byLane: ReadonlyMap<string, Child>;
  readonly facts: PlanFacts;
}

/** Its wave has not begun. */
function ahead({ name }: Lane, record: GroupRecord): LaneState {
  if (Object.hasOwn(record.out, name)) return { is: 'out' };
  return { is: isCutShort(record) ? 'not-run' : 'later' };
}

/** Nothing of the group begins any more. */
function isCutShort({ state }: GroupRecord): boolean {
  return state === 'stopped' || state === 'notRun';
}

function stateOf({ name }: Lane, group: ResolvedGroup, { record, byLane, facts }: Known): LaneState {
  const isOut = Object.hasOwn(record.out, name);
  let endedMs = 0;
  let failure: Pick<LaneFailure, 'step' | 'child'> | undefined;
  for (const step of group.steps) {
    const key = `${name}/${step.id}`;
    const child = byLane.get(key);
    endedMs = Math.max(endedMs, child?.endedMs ?? 0);
    const isOpen = child !== undefined && isOpenChild(child);
    // A passed run still has to end before anything else is done to the instance.
    if (Object.hasOwn(record.passed, key) && !isOpen) continue;
    if (child === undefined) {
      if (isOut) return { is: 'out' };
      if (!isMeant(step, facts)) continue;
      if (isCutShort(record)) {
        if (failure !== undefined) break;
        return { is: 'stopped', step };
      }
      return { is: 'ready', step, attempt: record.attempts[key] ?? 1 };
    }
    if (child.state === 'done') continue;
    // A question on an instance that was taken out does not concern the group.
    if (isOut && child.state !== 'at-work' && child.state !== 'failed') return { is: 'out' };
    const isLeft = isLeftOpen(child, step);
    if (child.state !== 'failed' && !isLeft) return { is: child.state, step, child };
    if (isOut) return { is: 'out' };
    if (step.onFailure !== 'continue') return { is: 'failed', step, child };
    failure ??= { step, child };
  }
  if (isOut) return { is: 'out' };
  return failure === undefined ? { is: 'done', endedMs } : { is: 'failed', ...failure, endedMs };
}

/** The step belongs to this run. Not asked for a step that has begun. */
function isMeant({ when, rehearsal }: Step, facts: PlanFacts): boolean {
  if (facts.rehearsal && rehearsal !== undefined) return false;
  return when === undefined || when === `source-${facts.source}`;
}

function recordOf({ records }: PlanFacts, id: string): GroupRecord {
  return records[id] ?? { ...NEW_GROUP, state: 'waiting' };
}

/** `simulated` are the group's runs on a simulated service. */
export function resultOf(group: ResolvedGroup, facts: PlanFacts, simulated: readonly Start[]): GroupResult {
  const states = lanesOf(group, facts).map(({ state, hasFailed }) => ({ is: state.is, hasFailed }));
  const done = states.filter(({ is, hasFailed }) => is === 'done' && !hasFailed).length;
  const failed = states.filter(
    ({ is, hasFailed }) => hasFailed || is === 'failed' || is === 'failing',
  ).length;
  const count = simulated.filter((child) => child.group === group.id).length;
  const beside = count === 0 ? {} : { simulated: count };
  return { group: group.id, done, failed, notRun: states.length - done - failed, ...beside };
}
