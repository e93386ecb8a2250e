import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry } from '../store/journal.ts';
import type { Performed } from './performed.ts';
import { inputOf } from './run-log.ts';

/** A verb that the machine invoked and whose outcome it waits for. */
export interface Invocation {
  readonly id: string;
  readonly verb: string;
  readonly input: unknown;
}

export interface Folded {
  readonly snapshot: AnyMachineSnapshot;
  readonly invocation: Invocation | undefined;
}

export interface MachineEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function begin(runbook: Runbook, input: unknown): Folded {
  const machine = runbook.machineFor?.(input) ?? runbook.machine;
  const [snapshot, effects] = initialTransition(machine, input as never);
  return { snapshot, invocation: follow(undefined, effects) };
}

/** Pure: the effects are returned as the invocation that the machine now waits for. */
export function step(runbook: Runbook, before: Folded, event: MachineEvent): Folded {
  const [snapshot, effects] = transition(before.snapshot.machine, before.snapshot, event as never);
  if (snapshot.status === 'error') {
    throw new LifeboatError('machine.broken', `runbook ${runbook.id} cannot take the event ${event.type}`, {
      hints: ['this is a bug in lifeboat; the run is kept as it was before the event'],
      cause: snapshot.error,
    });
  }
  return { snapshot, invocation: follow(before.invocation, effects) };
}

/**
 * The state of a run is the fold of its journal; resume, audit, report and replay all use this. If an entry's
 * recorded state differs from the replayed one, another machine wrote it (`run.diverged`).
 */
export function fold(runbook: Runbook, input: unknown, entries: readonly Entry[]): Folded {
  return foldOn(runbook, begin(runbook, input), entries);
}

/** As `fold`, for an array that only grows: called again with it, folds only what was appended since. */
export function foldGrowing(runbook: Runbook, entries: readonly Entry[]): Folded {
  const known = growing.get(entries);
  const folded =
    known === undefined
      ? fold(runbook, inputOf(entries) ?? {}, entries)
      : foldOn(runbook, known.folded, entries.slice(known.count));
  growing.set(entries, { folded, count: entries.length });
  return folded;
}

const growing = new WeakMap<readonly Entry[], { readonly folded: Folded; readonly count: number }>();

/** The failure that a stopped run asked about last; undefined if it was not stopped at a failure. Pure. */
export function stoppedAt(runbook: Runbook, entries: readonly Entry[]): Failure | undefined {
  const last = entries.findLastIndex(({ type }) => type === 'event');
  const { snapshot } = fold(runbook, inputOf(entries) ?? {}, entries.slice(0, Math.max(0, last)));
  const hasFailed = snapshot.hasTag('failed' as never) || snapshot.hasTag('in-doubt' as never);
  return hasFailed ? runbook.failure(snapshot.context as never) : undefined;
}

export function foldOn(runbook: Runbook, before: Folded, entries: readonly Entry[]): Folded {
  let folded = before;
  for (const entry of entries) {
    if (entry.type !== 'event') continue;
    const { event, to } = entry.body as unknown as { event: MachineEvent; to: string };
    folded = step(runbook, folded, event);
    if (statePath(folded.snapshot) !== to) {
      throw new LifeboatError(
        'run.diverged',
        `entry ${entry.seq} led to the state ${to}, and now leads to ${statePath(folded.snapshot)}`,
        {
          hints: [
            'use the version of lifeboat that started this run, ' +
              'or abandon it with `lifeboat resume RUN --abandon REASON`',
          ],
        },
      );
    }
  }
  return folded;
}

/** The event that tells the machine how a verb ended. */
export function endOf(
  { id }: Invocation,
  performed: Extract<Performed, { readonly how: 'done' | 'failed' }>,
): MachineEvent {
  return performed.how === 'done'
    ? { type: `xstate.done.actor.${id}`, output: performed.output, actorId: id }
    : { type: `xstate.error.actor.${id}`, error: performed.failure, actorId: id };
}

/** A machine only invokes verbs: any other effect is a bug in it and must be noticed. */
function follow(
  before: Invocation | undefined,
  effects: readonly { readonly type: string; readonly params?: unknown }[],
): Invocation | undefined {
  let invocation = before;
  for (const effect of effects) {
    const params = effect.params as { id: string; src: string; input: unknown } | undefined;
    if (effect.type === 'xstate.stopChild') invocation = undefined;
    else if (effect.type === 'xstate.spawnChild' && params !== undefined) {
      if (invocation !== undefined) throw new Error('a machine may wait for one verb at a time');
      invocation = { id: params.id, verb: params.src, input: params.input };
    } else
      throw new Error(`a machine asked for the effect ${effect.type}, which the runner does not perform`);
  }
  return invocation;
}

/**
 * A run's follow-ups by its journal, open and closed, and those that a change under way will leave. Empty for
 * a runbook without any. Throws `run.diverged` if another machine wrote the journal.
 */
export function followUpsOf(runbook: Runbook, entries: readonly Entry[]): readonly FollowUp[] {
  if (runbook.followUps === undefined) return [];
  const { snapshot } = fold(runbook, inputOf(entries) ?? {}, entries);
  return runbook.followUps(snapshot.context as never, statePath(snapshot));
}
