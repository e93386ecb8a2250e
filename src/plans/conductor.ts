import { GivenAnswers } from '../../machines/parts/given-answers.ts';
import type { GroupResult, LaneFacts } from '../../machines/parts/plan-events.ts';
import { type Answer, STOP_EVENT } from '../../machines/parts/question.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { ChildEnd, ConductorPort, RecordedChild, ShownChild } from './conductor-port.ts';
import { assertFits, fitOf, type PlanDecision } from './decision-fit.ts';
import { isAt, placeOf, planFacts, standingFacts } from './facts.ts';
import { type Live, shownLive } from './live-child.ts';
import {
  freeSlots,
  keyOf,
  type Next,
  type PlanFacts,
  resultOf,
  type Start,
  schedule,
  takesSlotWhenAtWork,
} from './schedule.ts';
import {
  answerOfPlan,
  endedChild,
  endedOnRecord,
  isAsking,
  isStopped,
  isTakenOut,
  isUnderWay,
  lateMs,
  type Obstacle,
  obstacleToAnother,
  whyLeft,
} from './standing.ts';

/** Lanes of an evaluation in one entry. */
const LANES_AT_ONCE = 500;

/** Pause before a child that could not be begun, and between looks at one that was left. */
const AGAIN_MS = 5_000;

/** Runs that are begun at once: each waits for the store, and for its reads of it. */
const STARTS_AT_ONCE = 16;

/** Another run of the instance is open, or is just closing and holds it still: both end by themselves. */
const BLOCKED: ReadonlySet<string> = new Set(['run.open', 'journal.held']);

/** For a person. */
export interface Waiting {
  /** Milliseconds since 1970: what then still waits is left undone. Undefined without such a time. */
  readonly untilMs: number | undefined;
  /** A step waits for another run of its instance to end: it is tried again every few seconds. */
  readonly isBlocked: boolean;
}

/**
 * Drives a plan's run in this process: asks the scheduler what may start, starts it, and reports the results
 * to the plan's run. Every decision is on record before it has an effect, so after the death of a process
 * another one continues: children have ids that follow from their step, and each knows by itself what it has
 * sent.
 */
export class Conductor {
  readonly #port: ConductorPort;
  /** Those that have not ended. */
  readonly #live = new Map<string, Live>();
  /** What is shown of the others: of ten thousand runs, none is kept beyond its end. */
  readonly #ended = new Map<string, ShownChild>();
  readonly #listeners = new Set<() => void>();
  readonly #queued: { readonly key: string; readonly answer: Answer }[] = [];
  #turn: Promise<void> = Promise.resolve();
  #isAsked = false;
  #isLeaving = false;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #broken: unknown;
  #waiting: Waiting | undefined;

  constructor(port: ConductorPort) {
    this.#port = port;
  }

  /** Resolves when the plan's run is over in this process; rejects with what broke it. */
  async run(): Promise<void> {
    const unsubscribe = this.#port.plan.subscribe(() => this.#ask());
    try {
      const recorded = await this.#port.children();
      for (const child of recorded)
        if (child.result !== undefined) this.#ended.set(keyOf(child), endedOnRecord(child, child.result));
      // Open children first: they hold their slots before anything new may have one.
      await this.#beginAll(recorded.filter(({ result }) => result === undefined));
      this.#isRunning = true;
      this.#ask();
      await this.#port.plan.ended;
    } finally {
      // If its run was lost, another process conducts the plan, and knows more than this one.
      this.#isRunning = false;
      unsubscribe();
      clearTimeout(this.#timer);
    }
    await this.#turn;
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** With their questions. */
  children(): readonly ShownChild[] {
    return this.#all();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Set while everything waits for a person: nothing is under way, and the plan goes on by no time. */
  waiting(): Waiting | undefined {
    return this.#waiting;
  }

  /** Rejects with `answer.misfit` if it does not fit; refuses a wish of another process on record instead. */
  async decide(event: PlanDecision, label: string, wish?: number): Promise<void> {
    try {
      assertFits(fitOf(this.#port.plan.snapshot(), event));
      if (event.type === 'operator.tryAgain') await this.#assertRepeatable(event);
      await this.#port.plan.tell(event, label, wish);
    } catch (thrown) {
      if (wish === undefined) throw thrown;
      await this.#port.plan.refuse(wish, failureOf(thrown).shortMessage);
    }
    this.#ask();
  }

  /**
   * Throws `plan.not-failed` unless the last attempt has failed, or asks and can be ended. A step that is
   * done is never sent again.
   */
  async #assertRepeatable(place: Pick<Start, 'group' | 'lane' | 'step'>): Promise<void> {
    const { group, lane, step } = place;
    const [last] = (await this.#port.children())
      .filter((row) => row.group === group && row.lane === lane && row.step === step)
      .toSorted((one, other) => other.attempt - one.attempt);
    const obstacle = last === undefined ? { why: 'it has not begun' } : await this.#obstacleOf(last);
    if (obstacle === undefined) return;
    const { why, way = 'a step is tried again when it has failed, or asks what to do' } = obstacle;
    throw new LifeboatError('plan.not-failed', `${group}/${lane}/${step} is not tried again: ${why}`, {
      hints: ['nothing was changed', way],
      exitCode: EXIT.usage,
    });
  }

  async #obstacleOf(last: RecordedChild): Promise<Obstacle | undefined> {
    if (last.result === 'done') return { why: 'it has not failed' };
    if (last.result === 'failed') return undefined;
    // By its place: a child that another process drives has no run here.
    const here = this.#all().find((child) => keyOf(child) === keyOf(last));
    if (here?.state === 'at-work') return { why: 'it is under way' };
    return obstacleToAnother(last.runId, await this.#port.onRecord(last.runId));
  }

  /** An answer that lets the child work again waits for a free slot; this resolves when it was given. */
  async answer(runId: string, answer: Answer): Promise<void> {
    const { key, live } = this.#liveOf(runId);
    if (key === undefined || live?.driven === undefined) throw notHere(runId);
    if (this.#hasSlot(live.start)) await this.#give(key, live, answer);
    else this.#queued.push({ key, answer });
    this.#ask();
  }

  /** A child that was left is taken up again for its answer. */
  async #give(key: string, { start, driven, isLeft }: Live, answer: Answer): Promise<void> {
    if (!isLeft) return driven?.answer(answer);
    await this.#begin(start, { isAnswering: true });
    const live = this.#live.get(key);
    if (live?.driven === undefined) throw notHere(driven?.runId ?? '', live?.problem?.shortMessage);
    try {
      await live.driven.answer(answer);
    } finally {
      live.isAnswering = false;
    }
  }

  /** Tries again, if the child waits for credentials; otherwise a no-op. */
  wake(runId: string): void {
    this.#liveOf(runId).live?.driven?.wake();
  }

  /** All children stay resumable. `awaits`: nothing goes on before a person acts. */
  async leave(why: string, awaits?: 'person'): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    const driven = [...this.#live.values()].flatMap(({ driven: one, isLeft }) =>
      one === undefined || isLeft ? [] : [one],
    );
    await Promise.all(driven.map((one) => one.detach(why)));
    await this.#port.plan.detach(why, awaits);
  }

  #liveOf(runId: string): { readonly key?: string | undefined; readonly live?: Live | undefined } {
    const [key, live] = [...this.#live].find(([, { driven }]) => driven?.runId === runId) ?? [];
    return { key, live };
  }

  /** Several requests for a look become one. */
  #ask(): void {
    this.#waiting = undefined;
    for (const listener of this.#listeners) listener();
    if (this.#isAsked || this.#isLeaving || !this.#isRunning) return;
    this.#isAsked = true;
    this.#turn = this.#turn.then(async () => {
      this.#isAsked = false;
      try {
        if (!this.#isLeaving && this.#isRunning) await this.#look();
      } catch (thrown) {
        this.#broken ??= thrown;
        await this.leave(failureOf(thrown).shortMessage);
      }
    });
  }

  async #look(): Promise<void> {
    const { plan } = this.#port;
    const snapshot = plan.snapshot();
    if (snapshot.status !== 'active') return;
    const context = snapshot.context as PlanContext;
    if (isAt(snapshot, 'evaluate', 'looking')) return this.#evaluated(await this.#port.evaluate());
    if (isAt(snapshot, 'record')) {
      await this.#endLeftSteps();
      return plan.tell({ type: 'plan.recorded', results: await this.#results(context) });
    }
    this.#answerByItself();
    await this.#leaveAsking(context);
    await this.#lookAtLeft();
    await this.#tryAgain();
    const facts = this.#facts();
    if (facts === undefined) return this.#rest({}, snapshot.hasQuestion);
    const { events, starts, wakeMs, limitMs } = schedule(facts);
    for (const event of events) await plan.tell(event);
    await this.#beginAll(starts);
    if (events.length > 0 || starts.length > 0) return this.#ask();
    await this.#drain();
    this.#rest({ wakeMs, limitMs }, false);
  }

  /** In parts: an entry has a size limit, and a plan may have thousands of lanes. */
  async #evaluated(lanes: readonly LaneFacts[]): Promise<void> {
    const { plan } = this.#port;
    let from = 0;
    for (; from + LANES_AT_ONCE < lanes.length; from += LANES_AT_ONCE)
      await plan.tell({ type: 'plan.looked', from, lanes: lanes.slice(from, from + LANES_AT_ONCE) });
    const last = lanes.slice(from);
    await plan.tell({ type: 'plan.evaluated', ...(from === 0 ? {} : { from }), lanes: last });
  }

  /** Until something ends, a person decides, or this time has come. */
  #rest({ wakeMs, limitMs }: Partial<Pick<Next, 'wakeMs' | 'limitMs'>>, hasQuestion: boolean): void {
    clearTimeout(this.#timer);
    const again = [...this.#live.values()].flatMap(({ problem, isLeft, againMs }) =>
      problem !== undefined || isLeft ? [againMs] : [],
    );
    const late = [...this.#live.values()].flatMap(({ step, driven }) =>
      driven === undefined ? [] : [lateMs(step, driven.startedMs)],
    );
    const ahead = late.filter((ms) => ms > this.#port.now());
    const times = [wakeMs, limitMs].flatMap((ms) => ms ?? []);
    const next = Math.min(...times, ...again, ...ahead);
    const isAtWork = this.#all().some(isUnderWay);
    const isWaiting = !isAtWork && wakeMs === undefined && (hasQuestion || this.#facts() !== undefined);
    const isBlocked = [...this.#live.values()].some(({ problem }) => BLOCKED.has(problem?.code ?? ''));
    this.#waiting = isWaiting ? { untilMs: limitMs, isBlocked } : undefined;
    if (next !== Number.POSITIVE_INFINITY && this.#isRunning)
      this.#timer = setTimeout(() => this.#ask(), Math.max(0, next - this.#port.now()));
    for (const listener of this.#listeners) listener();
  }

  /**
   * Retries children that could not be taken up. One at work by the record keeps its slot until then; the
   * others wait for a free one.
   */
  async #tryAgain(): Promise<void> {
    const now = this.#port.now();
    const due = [...this.#live].filter(([, { problem, againMs }]) => problem !== undefined && againMs <= now);
    for (const [key, { holdsSlot }] of due) if (!holdsSlot) this.#live.delete(key);
    await this.#beginAll(due.flatMap(([, { start, holdsSlot }]) => (holdsSlot ? [start] : [])));
  }

  /** All of these have a place at once, so their order is free. */
  async #beginAll(starts: readonly Start[]): Promise<void> {
    for (let from = 0; from < starts.length; from += STARTS_AT_ONCE)
      await Promise.all(starts.slice(from, from + STARTS_AT_ONCE).map((start) => this.#begin(start)));
  }

  async #begin(start: Start, { isAnswering } = { isAnswering: false }): Promise<void> {
    const key = keyOf(start);
    const base = {
      start,
      step: placeOf((this.#port.plan.snapshot().context as PlanContext).input, start).step,
      given: new GivenAnswers(),
      isAnswering,
      isLeft: false,
    };
    try {
      const driven = await this.#port.begin(start);
      const live: Live = { ...base, driven, problem: undefined, holdsSlot: false, againMs: 0 };
      this.#live.set(key, live);
      driven.subscribe(() => this.#ask());
      driven.ended.then(
        ({ result, ...end }) => {
          if (result !== undefined) this.#end(live, { result, ...end });
          this.#ask();
        },
        async (thrown: unknown) => {
          this.#live.set(key, await this.#problemOf(live, thrown));
          this.#ask();
        },
      );
    } catch (thrown) {
      this.#live.set(key, await this.#problemOf({ ...base, driven: undefined, againMs: 0 }, thrown));
    }
  }

  #end({ start, driven }: Live, end: Ended): void {
    const { runId, startedMs } = driven ?? {};
    const where = driven?.state().where;
    this.#ended.set(keyOf(start), endedChild({ ...start, runId, startedMs, where, ...end }));
    this.#live.delete(keyOf(start));
  }

  /** The child could not be taken up. Never rejects. */
  async #problemOf(live: Omit<Live, 'problem' | 'holdsSlot'>, thrown: unknown): Promise<Live> {
    // If the record does not say, it holds its slot: too few instances at once do no harm.
    const holdsSlot = await this.#isAtWorkByRecord(live.start).catch(() => true);
    const againMs = this.#port.now() + AGAIN_MS;
    return { ...live, driven: undefined, isLeft: false, problem: failureOf(thrown), holdsSlot, againMs };
  }

  async #isAtWorkByRecord(start: Start): Promise<boolean> {
    const child = await this.#port.recorded(start);
    if (child === undefined || child.result !== undefined) return false;
    return (await this.#port.onRecord(child.runId))?.question === undefined;
  }

  /** With the names that were confirmed for the plan, and with recommended answers. */
  #answerByItself(): void {
    const context = this.#port.plan.snapshot().context as PlanContext;
    for (const live of this.#live.values()) {
      const automatic = this.#automatic(live, context);
      if (automatic === undefined || live.isAnswering) continue;
      const { driven, question, answer } = automatic;
      live.given.add(question, answer);
      live.isAnswering = true;
      driven
        .answer(answer)
        // A refusal, such as a missing approval, leaves the question open for a person.
        .catch(() => undefined)
        .finally(() => {
          live.isAnswering = false;
          this.#ask();
        });
    }
  }

  /** With its question; undefined if the plan gives no answer. */
  #automatic({ driven, start, step, given, isLeft }: Live, context: PlanContext) {
    if (driven === undefined || isLeft) return undefined;
    const state = driven.state();
    const { differences } = this.#port;
    const isStopped = this.#isStopped(start.group, context);
    const answer = answerOfPlan(start, step, state, { context, isStopped, differences });
    const { question } = state;
    if (question === undefined || answer === undefined || !given.mayHelp(question, answer)) return undefined;
    return { driven, question, answer };
  }

  /**
   * Leaves a child that the plan can do without as soon as it asks a person, so that it can be resumed by
   * itself. If it is needed again, it begins again when its step is due.
   */
  async #leaveAsking(context: PlanContext): Promise<void> {
    for (const [key, live] of this.#live) {
      if (live.driven === undefined || live.isAnswering) continue;
      if (this.#queued.some((one) => one.key === key)) continue;
      const { start, step } = live;
      const isStopped = this.#isStopped(start.group, context);
      const why = whyLeft(start, step, live.driven.state(), { context, isStopped });
      if (live.isLeft && why === undefined) this.#live.delete(key);
      if (live.isLeft || why === undefined || !isAsking(this.#kept(live, context))) continue;
      live.isLeft = true;
      live.againMs = this.#port.now() + AGAIN_MS;
      await live.driven.detach(why);
    }
  }

  /** By the record. */
  async #lookAtLeft(): Promise<void> {
    const now = this.#port.now();
    for (const live of this.#live.values()) {
      if (!live.isLeft || live.againMs > now) continue;
      live.againMs = now + AGAIN_MS;
      const row = await this.#port.child(live.driven?.runId ?? '');
      if (row?.result === undefined) continue;
      const { result, endedAt, cause } = row;
      this.#end(live, { result, endedMs: msOf(endedAt), cause });
    }
  }

  #isStopped(group: string, { groups }: PlanContext): boolean {
    const now = planFacts(this.#port.plan.snapshot(), [], this.#port.now())?.records[group];
    return isStopped(groups[group], now?.state);
  }

  /** Those that have waited for a slot. */
  async #drain(): Promise<void> {
    for (const one of this.#queued.splice(0)) {
      const live = this.#live.get(one.key);
      if (live?.driven === undefined) continue;
      if (this.#hasSlot(live.start)) await this.#give(one.key, live, one.answer).catch(() => undefined);
      else this.#queued.push(one);
    }
  }

  #hasSlot(start: Start): boolean {
    const facts = this.#facts();
    const group = facts?.groups.find(({ id }) => id === start.group);
    if (facts === undefined || group === undefined) return true;
    const step = group.steps.find(({ id }) => id === start.step);
    return step === undefined || !takesSlotWhenAtWork(step) || freeSlots(group, facts) > 0;
  }

  #facts(): PlanFacts | undefined {
    return planFacts(this.#port.plan.snapshot(), this.#all(), this.#port.now());
  }

  #all(): readonly ShownChild[] {
    const context = this.#port.plan.snapshot().context as PlanContext;
    // An open child on record is taken up when its step is due: the scheduler sees it as not begun.
    return [...this.#ended.values(), ...[...this.#live.values()].map((live) => this.#kept(live, context))];
  }

  /** The same object if nothing changed, because screens draw only changes. */
  #kept(live: Live, context: PlanContext): ShownChild {
    const [before, now] = [live.shown, this.#shown(live, context)];
    const names = Object.keys(now) as (keyof ShownChild)[];
    if (before === undefined || names.some((name) => before[name] !== now[name])) live.shown = now;
    return live.shown ?? now;
  }

  #shown(live: Live, context: PlanContext): ShownChild {
    return shownLive(live, {
      isAutomatic: live.isAnswering || this.#automatic(live, context) !== undefined,
      isAnswered: this.#queued.some(({ key }) => key === keyOf(live.start)),
      isOut: isTakenOut(context, live.start),
      nowMs: this.#port.now(),
    });
  }

  async #results(context: PlanContext): Promise<readonly GroupResult[]> {
    const facts = standingFacts(context, this.#all(), this.#port.now());
    const simulated = (await this.#port.children()).filter((child) => child.simulated === true);
    return facts.groups.map((group) => resultOf(group, facts, simulated));
  }

  /**
   * Ends steps that were left open on instances that were taken out: only the plan's run could continue them.
   * The run of a runbook stays open: it is a recovery of its own.
   */
  async #endLeftSteps(): Promise<void> {
    for (const child of await this.#port.children()) {
      if (child.result !== undefined || child.runbook !== 'plan-step') continue;
      const live = this.#live.get(keyOf(child));
      const driven = (live?.isLeft === true ? undefined : live?.driven) ?? (await this.#port.begin(child));
      await driven.answer({ event: STOP_EVENT, text: 'the plan has ended' });
      await driven.ended;
    }
  }
}

type Ended = ChildEnd & { readonly result: 'done' | 'failed' };

function notHere(runId: string, why?: string): LifeboatError {
  const known = why === undefined ? [] : [why];
  return new LifeboatError('plan.no-child', `run ${runId} is not driven here`, {
    hints: ['nothing was answered', ...known, `if it is open: lifeboat resume ${runId}`],
  });
}
