import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LifeboatError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { LabClock } from '../clock.ts';
import { type FaultTable, type Named, someNames } from '../faults.ts';
import type { Schedule } from '../schedule.ts';
import type { Scenario, Step } from './scenario.ts';

export interface Stage {
  readonly instances: readonly StageInstance[];
  readonly faults: Pick<FaultTable, 'add' | 'check'>;
  readonly queue: { workers: number; delayMs: number; release(): void };
  readonly schedule: Schedule;
  readonly clock: Pick<LabClock, 'advance' | 'rate' | 'skew' | 'facts'>;
  readonly tokens: { expire(): void; renew(): Promise<void> };
  readonly log: (line: string) => void;
  clearFaults(): void;
}

interface StageInstance extends Named {
  lose(): Promise<void>;
  bringBack(): Promise<void>;
  setKey(key: Secret): void;
  triggerBackup(): unknown;
  readonly metrics: { press(percent: number | undefined): void };
}

/**
 * Plays a scenario until the signal is aborted or the next one begins. The next one ends all faults and this
 * one's schedule, and restores the lab's own workers, pace and disks; a lost instance, an expired token and a
 * changed key stay. Before anything begins, throws `lab.fault` for an impossible fault and `lab.scenario` for
 * an unknown instance. A later step that fails is logged, and the next ones go on.
 */
export function playScenario(scenario: Scenario, stage: Stage, signal: AbortSignal): void {
  for (const fault of scenario.faults) stage.faults.check(fault);
  for (const step of scenario.timeline) checkStep(step, stage);
  const before = PLAYS.get(stage);
  before?.ending.abort();
  const own = before?.own ?? { workers: stage.queue.workers, rate: stage.clock.facts().rate };
  const ending = new AbortController();
  stage.clearFaults();
  for (const { metrics } of stage.instances) metrics.press(undefined);
  for (const fault of scenario.faults) stage.faults.add(fault);
  applySettings(scenario.settings, stage, { own, before: before?.scenario.settings ?? {} });
  stage.log(`scenario ${scenario.name} begins: ${show(scenario.summary)}`);
  const ended = playTimeline(scenario.timeline, stage, AbortSignal.any([signal, ending.signal]));
  PLAYS.set(stage, { scenario, ending, own, ended });
}

/** Ends the timeline: resolves when no step runs or will follow. Effects, faults and settings stay. */
export async function endTimeline(stage: Stage): Promise<void> {
  const play = PLAYS.get(stage);
  play?.ending.abort();
  await play?.ended;
}

/** The last scenario begun; undefined before the first one. */
export function scenarioOf(stage: Stage): string | undefined {
  return PLAYS.get(stage)?.scenario.name;
}

interface Play {
  readonly scenario: Scenario;
  readonly ending: AbortController;
  readonly own: Own;
  /** Resolves after the last step, or when the timeline is ended. */
  readonly ended: Promise<void>;
}

/** The lab's settings before its first scenario. */
interface Own {
  readonly workers: number;
  readonly rate: number;
}

/** Which scenario plays in which lab: a process may run several labs. */
const PLAYS = new WeakMap<Stage, Play>();

function applySettings(
  settings: Scenario['settings'],
  { queue, clock, schedule }: Stage,
  { own, before }: { readonly own: Own; readonly before: Scenario['settings'] },
): void {
  // First: more workers pick up waiting tasks at once, at the pace of that moment.
  queue.delayMs = settings.taskDelay ?? 0;
  queue.workers = settings.workers ?? own.workers;
  clock.skew(settings.clockSkew ?? 0);
  clock.rate(settings.clockRate ?? own.rate);
  const every = { ...before, ...settings };
  for (const name of ['backupEvery', 'maintenanceEvery'] as const) {
    if (every[name] === undefined) continue;
    const ms = settings[name];
    schedule[name](ms === undefined ? undefined : ms / 1000);
  }
}

/** Steps of the same moment happen in the order written, one after another. */
async function playTimeline(timeline: readonly Step[], stage: Stage, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  for (const step of timeline.toSorted((left, right) => left.after - right.after)) {
    const left = step.after - (performance.now() - began);
    if (left > 0) await pause(left, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await perform(step, stage);
      stage.log(`scenario: ${sentence(step)}`);
    } catch (error) {
      if (!signal.aborted) stage.log(`scenario: ${sentence(step)} failed: ${String(error)}`);
    }
  }
}

async function perform(step: Step, stage: Stage): Promise<void> {
  switch (step.do) {
    case 'lose':
      return await instanceAt(stage, step.instance).lose();
    case 'bring-back':
      return await instanceAt(stage, step.instance).bringBack();
    case 'fault':
      return stage.faults.add(step.fault);
    case 'clear':
      return stage.clearFaults();
    case 'release':
      return stage.queue.release();
    case 'expire-token':
      stage.tokens.expire();
      return await stage.tokens.renew();
    case 'rotate-key':
      return instanceAt(stage, step.instance).setKey(new Secret(randomBytes(32).toString('base64url')));
    case 'backup':
      return void instanceAt(stage, step.instance).triggerBackup();
    case 'fill-disk':
      return instanceAt(stage, step.instance).metrics.press(step.percent);
    case 'advance':
      return stage.clock.advance(step.by);
    case 'skew':
      return stage.clock.skew(step.by);
  }
}

function checkStep(step: Step, stage: Stage): void {
  if (step.do === 'fault') stage.faults.check(step.fault);
  if ('instance' in step) instanceAt(stage, step.instance);
}

function instanceAt({ instances }: Stage, wanted: string): StageInstance {
  const found = instances.find(({ name, guid }) => name === wanted || guid === wanted);
  if (found !== undefined) return found;
  throw new LifeboatError('lab.scenario', `there is no instance ${show(wanted)}`, {
    hints: [`there are ${someNames(instances)}`],
  });
}

function sentence(step: Step): string {
  return 'instance' in step ? `${step.do} ${show(step.instance)}` : step.do;
}
