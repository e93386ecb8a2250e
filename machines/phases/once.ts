import * as z from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import { adoptions, lookAgain, sendAgain } from '../parts/doubt-question.ts';
import type { PlannedCall } from '../parts/runbook.ts';
import {
  BackupFacts,
  landedOf,
  RestoreFacts,
  SendEnd,
  type Started,
  type StartedOutside,
  type Triggered,
} from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { effectOf, type InputOf, type OutputOf, type VerbOf } from '../verbs.ts';
import { choice, noStop, type Option, type OptionEvent, type RunQuestion, stop } from './asking.ts';
import { type FailureWays, failOrDoubt, failure } from './failing.ts';
import { when } from './guards.ts';
import { door, type Edges, invoking, type PhaseConfig, type States } from './phase.ts';

/** A task that a run asks for. `intents` counts the requests and names the current intent. */
export const OnceSlice = () =>
  z.object({
    intents: z.number(),
    /** Sends in a row that are proven not to have arrived. */
    absences: z.number(),
    send: SendEnd(),
    backup: BackupFacts().optional(),
    restore: RestoreFacts().optional(),
    /** The most that earlier sends may have done. */
    earlier: z.enum(['accepted', 'in-doubt']).optional(),
    /** The operator's evidence that it was done outside of this run; the service did not confirm it. */
    outside: z.string().optional(),
  });
export type OnceSlice = z.infer<ReturnType<typeof OnceSlice>>;

export type TaskName = 'safeguard' | 'backup' | 'restore' | 'fresh' | 'act';

export interface Send<Verb extends VerbOf<'once'>> {
  readonly verb: Verb;
  readonly title: string;
  readonly input: (context: RunContext) => Omit<InputOf<Verb>, 'intent'>;
  readonly calls: readonly PlannedCall[];
  readonly wayBack: string;
  readonly when?: (context: RunContext) => boolean;
}

interface Once {
  readonly key: string;
  readonly task: TaskName;
  /** With its article: `a backup`. */
  readonly what: string;
  readonly doubt: {
    readonly title: string;
    readonly otherwise: (context: RunContext) => string;
    /** Tasks of which one can be adopted, or only the instance, by which a person tells that it has begun. */
    readonly shown:
      | { readonly task: 'backup' | 'restore' }
      | { readonly begun: Option; readonly looksAt: string };
    readonly again: (context: RunContext) => string;
  };
  /** Where another send begins. Without it, the run sends again by itself while nothing has arrived. */
  readonly again?: string;
  readonly landed: string;
  readonly failed: {
    readonly title: string;
    readonly ways: FailureWays;
    readonly on?: Edges | undefined;
    /** Default: `neverDone`, in words for a service. */
    readonly never?: ((slice: OnceSlice) => Failure) | undefined;
  };
  readonly without?: string | undefined;
  /** Undefined while a follow-up is open. */
  readonly stop: string | undefined;
  readonly tags?: readonly 'sent'[];
}

/**
 * Asked for once: after a lost answer it is looked for, and it is sent again only if the service shows that
 * nothing has arrived, or a person decides so. Makes the first of `sends` that the run passes.
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
        { guard: when('it has arrived', (context) => landedOf(context[task]) !== undefined), target: landed },
        ...(again === undefined
          ? [
              {
                guard: when('it did not arrive, up to three times', (context) => context[task].absences < 3),
                target: begin,
                actions: nextIntent(task),
              },
            ]
          : []),
        {
          target: 'failed',
          actions: assignWith(({ context }) => ({
            failure: failed.never?.(context[task]) ?? neverDone(context[task], what),
          })),
        },
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
                actions: assignWith<{ id: number }>(({ context, event }) =>
                  changed(context, task, { send: { is: 'landed', id: event.id, adopted: true } }),
                ),
              },
            }
          : {
              'operator.hasBegun': {
                target: landed,
                actions: assignWith<{ text: string }>(({ context, event }) => outside(event, context)),
              },
            }),
        'operator.lookAgain': { target: begin, actions: 'clearFailure' },
        'operator.sendAgain': 'sendingAgain',
        ...(given.stop === undefined ? {} : { 'operator.stop': given.stop }),
      },
    },
    /** Only a person's decision leads here, to a new intent. */
    sendingAgain: {
      id: door(key, 'another'),
      meta: { title: 'sending it again' },
      always: { target: again ?? begin, actions: [forgetAbsences(task), nextIntent(task)] },
    },
    failed: failure({
      step: key,
      title: failed.title,
      ways: failed.ways,
      retry: 'sendingAgain',
      next: without,
      stop: given.stop,
      on: failed.on,
    }),
  };
}

/** All but a backup come after the typed name. */
export function sending<Verb extends VerbOf<'once'>>(
  task: TaskName,
  id: string,
  send: Send<Verb>,
): PhaseConfig {
  const { verb, title, input, calls, wayBack, when } = send;
  const effect = effectOf(verb);
  const destroys = effect !== 'backup' && effect !== 'outside';
  const intent = task === 'act' ? verb : task;
  return {
    tags: destroys ? (task === 'restore' ? ['destructive', 'sent'] : ['destructive']) : [],
    meta: { title, calls, wayBack, when },
    invoke: invoking<Verb>({
      id,
      src: verb,
      input: ({ context }) =>
        ({ ...input(context), intent: `${intent}-${context[task].intents}` }) as InputOf<Verb>,
      onDone: {
        target: 'evaluating',
        actions: assignWith<{ output: OutputOf<Verb> }>(({ context, event }) =>
          changed(context, task, endOf(context[task], event.output as Triggered | Started | StartedOutside)),
        ),
      },
      onError: failOrDoubt('inDoubt', 'failed').map((way, index) => ({
        ...way,
        actions: [
          assignWith(({ context }) =>
            changed(context, task, { send: { is: index === 0 ? 'in-doubt' : 'open' } }),
          ),
          way.actions,
        ],
      })),
    }),
  };
}

function whichOf(sends: Readonly<Record<string, PhaseConfig>>): PhaseConfig {
  return {
    meta: { title: 'which action it is' },
    always: Object.entries(sends).map(([target, { meta }]) => ({
      guard: when('it is this one', (context) => meta?.when?.(context) ?? true),
      target,
    })),
  };
}

function endOf({ absences }: OnceSlice, output: Triggered | Started | StartedOutside): Partial<OnceSlice> {
  if (!output.landed) {
    const { lost, evidence } = output;
    return { absences: absences + 1, send: { is: 'absent', lost, evidence } };
  }
  const id = 'id' in output ? output.id : 0;
  return { absences: 0, send: { is: 'landed', id, adopted: output.adopted } };
}

/** Undefined if no send did anything. */
export function sentOf({ send, outside, earlier }: OnceSlice): OnceSlice['earlier'] {
  if (send.is === 'landed' || outside !== undefined) return 'accepted';
  return earlier ?? (send.is === 'in-doubt' ? 'in-doubt' : undefined);
}

/** A task that has landed belongs to the intent before. */
export function nextIntent(task: TaskName) {
  return assignWith(({ context }) =>
    changed(context, task, {
      intents: context[task].intents + 1,
      send: { is: 'open' },
      earlier: sentOf(context[task]),
    }),
  );
}

/** After a person has looked. */
function forgetAbsences(task: TaskName) {
  return assignWith(({ context }) => changed(context, task, { absences: 0 }));
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

/** With the answer and the obstacle, as far as they are known. `what` has its article. */
export function neverDone({ absences, send }: Pick<OnceSlice, 'absences' | 'send'>, what: string): Failure {
  const { lost, evidence } = send.is === 'absent' ? send : {};
  const busy = underWay(evidence);
  const shown = {
    ...(lost === undefined ? {} : { answer: lost.shortMessage }),
    ...(evidence === undefined ? {} : { list: evidence }),
  };
  if (lost?.code === 'service.conflict') {
    const tail = busy.length === 0 ? '' : `; under way: ${what.replace(/^an? /u, '')} ${busy.join(', ')}`;
    return {
      code: 'service.never-done',
      shortMessage: `the service refused it: ${lost.shortMessage}${tail}`,
      hints: ['its list shows that nothing was done', 'wait until what is under way is over, then try again'],
      evidence: shown,
    };
  }
  return {
    code: 'service.never-arrived',
    shortMessage:
      absences === 1
        ? `the request for ${what} never arrived`
        : `the request for ${what} was sent ${counted(absences, 'time')} and never arrived`,
    hints: [
      'the service shows that nothing has happened',
      ...(lost === undefined ? [] : [`what came back: ${lost.shortMessage}`]),
      'check the network to the service, then try again',
    ],
    evidence: shown,
  };
}

/** Tasks under way before the request. */
function underWay(evidence: unknown): readonly number[] {
  const ids =
    typeof evidence === 'object' && evidence !== null ? Reflect.get(evidence, 'underWay') : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [];
}
