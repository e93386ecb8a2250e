import { createActor } from 'xstate';
import { createSendMachine, type SendEvent, type SendFacts } from './send.ts';

/** The states of `machines/send.ts`; those of `inDoubt` by their own names. */
export type SendState =
  | 'preparing'
  | 'prepared'
  | 'armed'
  | 'lost'
  | 'doubtful'
  | 'refused'
  | 'cleared'
  | 'landed'
  | 'absent'
  | 'notSent';

export interface Send extends SendFacts {
  readonly state: SendState;
}

export type SendInDoubt = Send & { readonly armedAt: string };

const IN_DOUBT: ReadonlySet<SendState> = new Set(['armed', 'lost', 'doubtful']);
const OVER: ReadonlySet<SendState> = new Set(['landed', 'absent', 'notSent']);

/** Whether a byte may have left and the outcome is unknown. */
export function isInDoubt(send: Send): send is SendInDoubt {
  return IN_DOUBT.has(send.state);
}

export function isOver({ state }: Pick<Send, 'state'>): boolean {
  return OVER.has(state);
}

/** A proxy may have refused it, so a refusal proves nothing. */
export function isRefused({ state }: Pick<Send, 'state'>): boolean {
  return state === 'refused' || state === 'cleared';
}

type SendMachine = ReturnType<typeof createSendMachine>;
interface Built {
  readonly machine: SendMachine;
  readonly scope: Parameters<SendMachine['transition']>[2];
}

/** Built for the first send: most commands read none. */
let built: Built | undefined;

/**
 * XState's `transition` makes an actor for each event, which takes five times as long as the transition. A
 * store that rebuilds its rows applies hundreds of thousands, so all share one actor, which never starts.
 */
function build(): Built {
  const machine = createSendMachine();
  const self = createActor(machine);
  const nothing = () => undefined;
  const scope = { self, system: self.system, id: '', sessionId: '', logger: nothing, defer: nothing };
  return { machine, scope: { ...scope, emit: nothing, stopChild: nothing, actionExecutor: nothing } };
}

/** Undefined until it is prepared. An event without an edge changes nothing. */
export function advance(send: Send | undefined, event: SendEvent): Send | undefined {
  built ??= build();
  const { machine, scope } = built;
  const { state, ...context }: Send = send ?? { state: 'preparing', baseline: null };
  const value = IN_DOUBT.has(state) ? { inDoubt: state } : state;
  const before = machine.resolveState({ value: value as never, context });
  const after = machine.transition(before, event, scope);
  if (after.value === 'preparing') return send;
  const [leaf] = typeof after.value === 'string' ? [after.value] : Object.values(after.value);
  return { state: leaf as SendState, ...after.context };
}
