import type { RunContext } from '../context.ts';
import { besideWaiting } from '../parts/beside-waiting.ts';
import { adoptions, lookAgain, sendAgain } from '../parts/doubt-question.ts';
import type { FailureWays } from '../parts/failure-question.ts';
import type { PlannedCall, TimeSlice } from '../parts/runbook.ts';
import type { Started, Triggered } from '../parts/task-data.ts';
import { changed, keep } from '../setup.ts';
import type { InputOf } from '../verbs.ts';
import { choice, noStop, type Option, type OptionEvent, type RunQuestion, stop } from './asking.ts';
import { failOrDoubt, failOrOver, failTo, failure } from './failing.ts';
import { neverDone } from './never-done.ts';
import type { OnceSlice, TaskName } from './once-slice.ts';
import type { PhaseConfig, States } from './phase.ts';

type OnceVerb = 'createBackup' | 'restoreBackup' | 'restoreToTime' | 'performRecovery' | ActionVerb;
type ActionVerb = 'restart' | 'recreate' | 'update';

/** The one send of a task. */
export interface Send<Verb extends OnceVerb> {
  readonly verb: Verb;
  readonly title: string;
  readonly input: (context: RunContext) => Omit<InputOf<Verb>, 'intent'>;
  readonly calls: readonly PlannedCall[];
  readonly wayBack: string;
  /** Whether the operator's typed name stands before it. */
  readonly destroys?: boolean;
  readonly slice?: TimeSlice;
  readonly when?: (context: RunContext) => boolean;
}

interface Once {
  /** The phase. */
  readonly key: string;
  /** The slice of the context that keeps the task. */
  readonly task: TaskName;
  /** What is asked for, with its article: `a backup`. */
  readonly what: string;
  readonly doubt: {
    readonly title: string;
    readonly otherwise: (context: RunContext) => string;
    /**
     * What the service shows of it: a list of tasks, of which one can be adopted, or only how the instance
     * is, from which a person tells that it has begun.
     */
    readonly shown:
      | { readonly task: 'backup' | 'restore' }
      | { readonly begun: Option; readonly looksAt: string };
    /** What another send does. */
    readonly again: (context: RunContext) => string;
  };
  /**
   * Where another send begins; where nothing is said it is sent by itself as long as the service shows that
   * nothing has arrived.
   */
  readonly again?: string;
  readonly landed: string;
  readonly failed: {
    readonly title: string;
    readonly ways: FailureWays;
    readonly on?: Record<string, unknown>;
  };
  /** Where a failure that is passed leads. */
  readonly without?: string | undefined;
  /** Where stopping leads; none where a follow-up is open. */
  readonly stop: string | undefined;
  /** The tags of the states in which the task may be under way. */
  readonly tags?: readonly 'sent'[];
}

/**
 * A task that is asked for once: looked for when the answer is lost, and asked for again only where the
 * service shows that nothing has arrived, or a person decides it. The first of `sends` that the run passes is
 * made.
 */
export function once(sends: Readonly<Record<string, PhaseConfig>>, given: Once): States {
  const { task, what, landed, again, failed, without, key } = given;
  const tags = given.tags ?? [];
  const [first = 'sending'] = Object.keys(sends);
  const several = Object.keys(sends).length > 1;
  const begin = several ? 'evaluatingWhich' : first;
  const outside = (event: { text: string }, context: RunContext) =>
    changed(context, task, { outside: event.text });
  return {
    ...(several ? { evaluatingWhich: whichOf(sends) } : {}),
    ...sends,
    evaluating: {
      tags: [...tags],
      meta: { title: 'checking the answer' },
      always: [
        { guard: ({ context }) => context[task].landed !== undefined, target: landed },
        ...(again === undefined
          ? [
              {
                guard: ({ context }: Of) => context[task].absences < 3,
                target: begin,
                actions: nextIntent(task),
              },
            ]
          : []),
        { target: 'failed', actions: keep(({ context }) => ({ failure: neverDone(context[task], what) })) },
      ],
    },
    inDoubt: {
      tags: ['question', 'in-doubt', ...tags],
      meta: { title: given.doubt.title, question: askAboutDoubt(given) },
      on: {
        ...('task' in given.doubt.shown
          ? {
              'operator.adopt': {
                target: landed,
                actions: keep<{ id: number }>(({ context, event }) =>
                  changed(context, task, { landed: { id: event.id, adopted: true } }),
                ),
              },
            }
          : {
              'operator.hasBegun': {
                target: landed,
                actions: keep<{ text: string }>(({ context, event }) => outside(event, context)),
              },
            }),
        'operator.lookAgain': { target: begin, actions: 'clearFailure' },
        'operator.sendAgain': 'sendingAgain',
        ...(given.stop === undefined ? {} : { 'operator.stop': given.stop }),
      },
    },
    /** Another intent is given out only where a person has decided it. */
    sendingAgain: {
      meta: { title: 'sending it again' },
      always: { target: again ?? begin, actions: [forgetAbsences(task), nextIntent(task)] },
    },
    failed: failure({
      step: key,
      title: failed.title,
      ways: failed.ways,
      retry: 'sendingAgain',
      next: without,
      ...(given.stop === undefined ? {} : { stop: given.stop }),
      ...(failed.on === undefined ? {} : { on: failed.on }),
    }),
  };
}

type Of = { readonly context: RunContext };

/** The state in which a task is sent. */
export function sending<Verb extends OnceVerb>(task: TaskName, id: string, send: Send<Verb>): PhaseConfig {
  const { verb, title, input, calls, wayBack, destroys = false, slice, when } = send;
  const intent = task === 'act' ? verb : task;
  return {
    tags: destroys ? (task === 'restore' ? ['destructive', 'sent'] : ['destructive']) : [],
    meta: {
      title,
      calls,
      wayBack,
      ...(slice === undefined ? {} : { slice }),
      when,
    },
    invoke: {
      id,
      src: verb,
      input: ({ context }: Of) => ({ ...input(context), intent: `${intent}-${context[task].intents}` }),
      onDone: {
        target: 'evaluating',
        actions: keep<{ output: Triggered | Started }>(({ context, event }) =>
          changed(context, task, landing(context[task], event.output)),
        ),
      },
      onError: failOrDoubt('inDoubt', 'failed'),
    },
  } as unknown as PhaseConfig;
}

function whichOf(sends: Readonly<Record<string, PhaseConfig>>): PhaseConfig {
  return {
    meta: { title: 'which action it is' },
    always: Object.entries(sends).map(([target, { meta }]) => ({
      guard: ({ context }: Of) => meta?.when?.(context) ?? true,
      target,
    })),
  };
}

function landing({ absences }: OnceSlice, output: Triggered | Started): Partial<OnceSlice> {
  if (!output.landed) {
    const { lost, evidence } = output;
    return { landed: undefined, absences: absences + 1, absence: { lost, evidence } };
  }
  return { landed: { id: 'id' in output ? output.id : 0, adopted: output.adopted }, absences: 0 };
}

/** The number of the next intent: whatever has landed belongs to the one before. */
export function nextIntent(task: TaskName) {
  return keep(({ context }) =>
    changed(context, task, { intents: context[task].intents + 1, landed: undefined }),
  );
}

/** A person has looked: the count of requests that never arrived begins anew. */
function forgetAbsences(task: TaskName) {
  return keep(({ context }) => changed(context, task, { absences: 0 }));
}

function askAboutDoubt({ doubt, stop: leads }: Once) {
  return (context: RunContext): RunQuestion =>
    choice(context.failure?.shortMessage ?? doubt.otherwise(context), [
      ...('task' in doubt.shown
        ? adoptions<OptionEvent>(context.failure, doubt.shown.task)
        : [doubt.shown.begun]),
      lookAgain('task' in doubt.shown ? `its list of ${doubt.shown.task}s` : doubt.shown.looksAt),
      sendAgain(doubt.again(context)),
      leads === undefined ? noStop : stop,
    ]);
}

interface Waiting<Verb extends 'waitForBackup' | 'waitForRestore' | 'waitForInstance'> {
  readonly key: string;
  readonly verb: Verb;
  /** What is waited for, with its article: `the backup of the present state`. */
  readonly what: string;
  readonly title: string;
  readonly input: (context: RunContext) => InputOf<Verb>;
  readonly calls: readonly PlannedCall[];
  readonly onDone: Record<string, unknown>;
  /** Where the service's word that it has ended badly leads. */
  readonly onOver?: string;
  readonly slice?: TimeSlice;
  readonly tags?: readonly 'sent'[];
  /** What a person who says that it is done has to tell, and where that leads. */
  readonly done?: { readonly prompt: string; readonly way: Record<string, unknown> };
  readonly failed: PhaseConfig;
}

/** Waits for what the service works on, and asks once it cannot be seen any more. */
export function waiting<Verb extends 'waitForBackup' | 'waitForRestore' | 'waitForInstance'>(
  given: Waiting<Verb>,
): States {
  const { verb, what, title, input, calls, onDone, onOver, slice, tags = [], done, failed } = given;
  return {
    waiting: {
      tags: ['waiting', ...tags],
      meta: {
        title,
        calls,
        beside: () => besideWaiting(done?.prompt),
        ...(slice === undefined ? {} : { slice }),
      },
      on: {
        'operator.lookAgain': { target: 'waiting', reenter: true },
        'operator.giveUp': { target: 'waitFailed', actions: { type: 'keepGivenUp', params: { what } } },
        ...(done === undefined ? {} : { 'operator.markDone': done.way }),
      },
      invoke: {
        id: given.key === 'backup' || verb !== 'waitForBackup' ? verb : `${verb}-${given.key}`,
        src: verb,
        input: ({ context }: Of) => input(context),
        onDone,
        onError: onOver === undefined ? failTo('waitFailed') : failOrOver(onOver, 'waitFailed'),
      },
    } as unknown as PhaseConfig,
    waitFailed: tags.length === 0 ? failed : { ...failed, tags: [...((failed.tags ?? []) as []), ...tags] },
  };
}
