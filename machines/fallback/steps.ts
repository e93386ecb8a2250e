import { targetCalls, wordsOf } from '../closing/cf-calls.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackCall, FallbackStep, FallbackValue } from '../parts/fallback-step.ts';
import type { FallbackPart, Left } from '../parts/runbook.ts';
import { innerOf, stepOf } from '../parts/states.ts';
import { landedOf } from '../parts/task-data.ts';
import type { OnceSlice } from '../phases/once.ts';

export type LeftOfRun = Left<RunContext>;

/** One step, for the state that the run is in or else for its phase. */
export function stepFor(
  { at, key }: Pick<LeftOfRun, 'at' | 'key'>,
  title: string,
  actions: readonly FallbackAction[],
  notes: readonly string[] = [],
): FallbackStep {
  return { state: at ?? key, title, notes, actions };
}

/** The instance as it is now, which every look reads first. */
export function instanceNow(
  { calls }: Pick<LeftOfRun, 'calls'>,
  look: 'preflight' | 'inspectTarget' = 'preflight',
): readonly FallbackCall[] {
  return calls.looks(look).slice(0, 1);
}

/** Whether the run is in the phase, so that its call may have been made. */
export function isIn({ at, key }: Pick<LeftOfRun, 'at' | 'key'>): boolean {
  return at !== undefined && stepOf(at) === key;
}

/**
 * The id of a task of a phase, unless the run is about to ask for it (again): then the list has to be looked
 * at.
 */
export function landedAt(slice: OnceSlice, phase: string, state: string): number | undefined {
  const isAsking = stepOf(state) === phase && !isUnderWay(state);
  // A backup that the new key does not open is not the one.
  return isAsking || innerOf(state) === 'notInForce' ? undefined : landedOf(slice)?.id;
}

/** Whether the service works on the task of the phase that the run is in. */
export function isUnderWay(state: string): boolean {
  return ['waiting', 'waitFailed'].includes(innerOf(state));
}

/** A value that is known now, or a shell variable for it. */
export function knownOr(value: string | undefined, variable: string, what: string): FallbackValue {
  return value === undefined ? { variable, what } : { known: value };
}

/** `, fingerprint 6f3a2b1c0d9e`, where it is known. */
export function fingerprinted(fingerprint: string | undefined): string {
  return fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`;
}

/** Goes to the space in which an application or a service instance lives. */
export function targeting(place: Parameters<typeof targetCalls>[0]): readonly FallbackAction[] {
  return targetCalls(place).map((call) => ({ do: 'run', command: wordsOf(call) }));
}

export function recordFallback(what: string): FallbackPart<RunContext> {
  return (left) => [stepFor(left, 'write it down', [{ do: 'by-hand', what }])];
}
