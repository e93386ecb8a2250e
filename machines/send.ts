import { assign, fromPromise, setup } from 'xstate';
import type { Failure } from '../src/base/failure.ts';

/** Times are RFC 3339, by the clock of the machine that wrote them. */
export interface SendFacts {
  /** If an entry names it. */
  readonly verb?: string | undefined;
  /** The output of `prepare`: what the service showed before the send. */
  readonly baseline: unknown;
  readonly armedAt?: string | undefined;
  /** When the first attempt was armed, if a later one followed a refusal. */
  readonly firstArmedAt?: string | undefined;
  /** The last answer that was not an acceptance: a refusal, or why the outcome is unknown. */
  readonly answer?: Failure | undefined;
  readonly isRefusal?: boolean | undefined;
  /** No process was sending after this time; a lost request may still arrive for a while. */
  readonly lostAt?: string | undefined;
  /** Why the last look decided nothing; its evidence lists the candidates. */
  readonly unclear?: Failure | undefined;
  readonly output?: unknown;
  /** Shows that the call landed, or that it did not. */
  readonly evidence?: unknown;
}

/** An `intent.*` entry, a process that takes over, or a person's word. */
export type SendEvent =
  | { type: 'prepared'; baseline: unknown; verb?: string | undefined }
  | { type: 'armed'; at: string; firstAt?: string | undefined }
  | { type: 'takenUp'; at: string }
  | { type: 'landed'; output: unknown; evidence?: unknown }
  | { type: 'refused' | 'neverLeft'; failure: Failure; at: string }
  | { type: 'lost'; failure: Failure; isRefusal: boolean; at: string }
  | { type: 'showsNothing' | 'absent'; evidence?: unknown }
  | { type: 'unclear'; failure: Failure }
  | { type: 'adopted'; output?: unknown }
  | { type: 'givenUp' };

const byRunner = fromPromise(() => Promise.reject(new Error('the runner performs it')));

/** The next attempt begins without these. */
const cleared = { answer: undefined, isRefusal: undefined, lostAt: undefined, unclear: undefined };

const never = { ...cleared, armedAt: undefined, firstArmedAt: undefined };

const send = setup({
  types: { context: {} as SendFacts, events: {} as SendEvent, tags: {} as 'question' },
  actors: { prepare: byRunner, send: byRunner, look: byRunner },
  guards: {
    wasRefusedBefore: ({ context }) => context.firstArmedAt !== undefined,
    needsCredentials: ({ event }) => 'failure' in event && event.failure.code.startsWith('credentials.'),
  },
  actions: {
    keepBaseline: assign(({ event }) =>
      event.type === 'prepared' ? { ...never, baseline: event.baseline, verb: event.verb } : {},
    ),
    keepArming: assign(({ context: { firstArmedAt, armedAt }, event }) =>
      event.type === 'armed'
        ? { ...cleared, armedAt: event.at, firstArmedAt: firstArmedAt ?? armedAt ?? event.firstAt }
        : {},
    ),
    disarm: assign(() => never),
    keepLoss: assign(({ context, event }) =>
      event.type === 'takenUp' ? { lostAt: context.lostAt ?? event.at } : {},
    ),
    keepAnswer: assign(({ context, event }) =>
      'failure' in event && 'at' in event
        ? {
            answer: event.failure,
            isRefusal: event.type === 'lost' ? event.isRefusal || context.isRefusal : true,
            lostAt: event.at,
          }
        : {},
    ),
    keepUnclear: assign(({ event }) => (event.type === 'unclear' ? { unclear: event.failure } : {})),
    keepOutcome: assign(({ event }) => ({
      ...('output' in event && { output: event.output }),
      ...('evidence' in event && { evidence: event.evidence }),
    })),
  },
});

/**
 * One call that must not happen twice, over an API without idempotency keys. The runner performs what a state
 * invokes: `prepare` records what the service shows before, `send` writes `armed` and seals it before the
 * first byte leaves, `look` asks the service. After `armed`, another attempt needs a refusal and a look that
 * shows nothing. A process that finds `armed` on record never sends: it looks.
 */
export const createSendMachine = () =>
  send.createMachine({
    id: 'send',
    context: { baseline: null },
    initial: 'preparing',
    states: {
      preparing: {
        invoke: { src: 'prepare' },
        on: { prepared: { target: 'prepared', actions: 'keepBaseline' } },
      },
      prepared: {
        invoke: { src: 'send' },
        on: {
          prepared: { target: 'prepared', actions: 'keepBaseline' },
          armed: { target: 'inDoubt.armed', actions: 'keepArming' },
        },
      },
      inDoubt: {
        on: {
          landed: { target: 'landed', actions: 'keepOutcome' },
          absent: { target: 'absent', actions: 'keepOutcome' },
          lost: { target: '.lost', actions: 'keepAnswer' },
          unclear: { target: '.doubtful', actions: 'keepUnclear' },
          adopted: { target: 'landed', actions: 'keepOutcome' },
          givenUp: 'absent',
        },
        initial: 'armed',
        states: {
          armed: {
            on: {
              takenUp: { target: 'lost', actions: 'keepLoss' },
              refused: { target: '#send.refused', actions: 'keepAnswer' },
              neverLeft: [
                { guard: 'wasRefusedBefore', target: '#send.refused', actions: 'keepAnswer' },
                { guard: 'needsCredentials', target: '#send.prepared', actions: 'disarm' },
                { target: '#send.notSent', actions: 'keepAnswer' },
              ],
            },
          },
          lost: { invoke: { src: 'look' } },
          doubtful: { tags: 'question', on: { takenUp: { target: 'lost', actions: 'keepLoss' } } },
        },
      },
      refused: {
        invoke: { src: 'look' },
        on: { showsNothing: 'cleared', lost: { target: 'inDoubt.lost', actions: 'keepAnswer' } },
      },
      cleared: {
        invoke: { src: 'send' },
        on: {
          takenUp: 'refused',
          prepared: { target: 'prepared', actions: 'keepBaseline' },
          armed: { target: 'inDoubt.armed', actions: 'keepArming' },
        },
      },
      landed: { type: 'final' },
      absent: { type: 'final' },
      notSent: { type: 'final' },
    },
  });
