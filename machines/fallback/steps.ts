import { targetCalls, wordsOf } from '../closing/cf-calls.ts';
import { isWithoutPlatform } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackCall, FallbackStep, FallbackValue } from '../parts/fallback-step.ts';
import type { FallbackPart, Left } from '../parts/runbook.ts';
import { innerOf, stepOf } from '../parts/states.ts';
import { landedOf } from '../parts/task-data.ts';
import type { OnceSlice } from '../phases/once.ts';

export type LeftOfRun = Left<RunContext>;

/** A step for the state that the run is in, or else for its phase. */
export function stepFor(
  { at, key }: Pick<LeftOfRun, 'at' | 'key'>,
  title: string,
  actions: readonly FallbackAction[],
  notes: readonly string[] = [],
): FallbackStep {
  return { state: at ?? key, title, notes, actions };
}

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

/** Undefined while the run is about to ask for the task (again): then the list has to be read. */
export function landedAt(slice: OnceSlice, phase: string, state: string): number | undefined {
  const isAsking = stepOf(state) === phase && !isUnderWay(state);
  // A backup that the new key does not open is not the one.
  return isAsking || innerOf(state) === 'notInForce' ? undefined : landedOf(slice)?.id;
}

export function isUnderWay(state: string): boolean {
  return ['waiting', 'waitFailed'].includes(innerOf(state));
}

export function knownOr(value: string | undefined, variable: string, what: string): FallbackValue {
  return value === undefined ? { variable, what } : { known: value };
}

/** `, fingerprint 6f3a2b1c0d9e`, where it is known. */
export function fingerprinted(fingerprint: string | undefined): string {
  return fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`;
}

export function targeting(place: Parameters<typeof targetCalls>[0]): readonly FallbackAction[] {
  return targetCalls(place).map((call) => ({ do: 'run', command: wordsOf(call) }));
}

export function recordFallback(what: string): FallbackPart<RunContext> {
  return (left) => [stepFor(left, 'write it down', [{ do: 'by-hand', what }])];
}

export const lookFallback: FallbackPart<RunContext> = (left) => [
  stepFor(left, `look at ${left.context.run.instance}`, left.calls.looks('preflight'), [
    'It has to be available, and no backup or restore may be queued or running.',
  ]),
];

/** Names and parameters of bindings cannot be looked up after unbinding. */
export const keepBindingsFallback: FallbackPart<RunContext> = (left) => {
  const { context } = left;
  const { bound } = context.followUps;
  const name = bound?.from?.name ?? context.run.instance;
  const isBare = isWithoutPlatform(context);
  const files = (bound?.apps ?? []).flatMap(({ key, binding }) =>
    binding?.parametersFile === undefined ? [] : [`${key}: ${binding.parametersFile}`],
  );
  const keep =
    files.length === 0
      ? 'Write down which applications are bound, and the names and parameters (-c) of their bindings: once they are unbound, this cannot be looked up.'
      : 'The parameters of the bindings are in these files on the machine that lifeboat ran on:';
  const bare = `Write down which applications use ${name}: their credentials change.`;
  return [
    stepFor(
      left,
      'write down what is bound, and what the newest data is',
      [
        ...targeting(bound?.from),
        ...(isBare ? [] : [{ do: 'run' as const, command: ['cf', 'service', name] }]),
        { do: 'by-hand', what: isBare ? bare : keep, copy: files },
      ],
      [
        'Take the newest record and the number of records from the database, if it answers: they show later what was lost.',
      ],
    ),
  ];
};
