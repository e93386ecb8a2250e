import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** A way from one state to another, with what leads along it. `''` when it is taken without a word. */
interface Way {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** What a state looks like, the strongest tag first. The titles say the same in words. */
const LOOKS: Readonly<Record<string, string>> = {
  destructive: 'fill:#b91c1c,color:#ffffff',
  failed: 'fill:#fde2e2,color:#7f1d1d',
  'in-doubt': 'fill:#fef3c7,color:#78350f',
  question: 'fill:#dbeafe,color:#1e3a5f',
};

/** A machine drawn, and what the drawing leaves out. */
export interface MachineDrawing {
  /** A Mermaid state diagram. */
  readonly mermaid: string;
  /** Stopping is possible almost everywhere, so it is said and not drawn. One sentence a line. */
  readonly notDrawn: string;
}

/** Draws a machine from its own definition. Pure. */
export function drawMachine(machine: AnyStateMachine): MachineDrawing {
  const states = Object.values(machine.states);
  const ways = states.flatMap(waysFrom);
  const drawn = ways.filter((way) => !isStop(way));
  const finals = states.filter((state) => state.type === 'final' && ways.some(({ to }) => to === state.key));
  const [first, ...rest] = [
    'stateDiagram-v2',
    ...states.map((state) => `state "${titleOf(state)}" as ${state.key}`),
    ...machine.root.initial.target.map((state) => `[*] --> ${state.key}`),
    ...joined(drawn).map(({ from, to, label }) => `${from} --> ${to}${label === '' ? '' : ` : ${label}`}`),
    ...finals.map((state) => `${state.key} --> [*]`),
    ...Object.entries(LOOKS).map(([tag, look]) => `classDef ${classOf(tag)} ${look}`),
    ...states.flatMap((state) => {
      const tag = Object.keys(LOOKS).find((name) => state.tags.includes(name));
      return tag === undefined ? [] : [`class ${state.key} ${classOf(tag)}`];
    }),
  ];
  return { mermaid: [first, ...rest.map((line) => `  ${line}`)].join('\n'), notDrawn: stopsOf(ways) };
}

/** Every state of a machine with its ways out, as plain data. Pure. */
export function machineTable(machine: AnyStateMachine): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.values(machine.states).map((state) => [
      state.key,
      {
        title: titleOf(state),
        type: state.type,
        tags: state.tags,
        invokes: state.invoke.map(({ id, src }) => ({ id, verb: typeof src === 'string' ? src : id })),
        transitions: transitionsOf(state).flatMap((transition) =>
          (transition.target ?? []).map((target) => ({
            event: transition.eventType,
            guard: guardOf(transition) ?? null,
            to: target.key,
          })),
        ),
      },
    ]),
  );
}

/** Every way out of a state, whether an event leads along it or a condition. */
function waysFrom(state: AnyStateNode): Way[] {
  const all = transitionsOf(state);
  return all.flatMap((transition) =>
    (transition.target ?? []).map((target) => ({
      from: state.key,
      to: target.key,
      label: labelOf(transition, all),
    })),
  );
}

function transitionsOf(state: AnyStateNode): readonly AnyTransitionDefinition[] {
  const always = (state.always ?? []) as readonly AnyTransitionDefinition[];
  return [...always, ...[...state.transitions.values()].flat()];
}

function labelOf(transition: AnyTransitionDefinition, siblings: readonly AnyTransitionDefinition[]): string {
  const { eventType } = transition;
  const others = siblings.filter((sibling) => sibling.eventType === eventType && sibling !== transition);
  const guarded = others.some((other) => guardOf(other) !== undefined);
  return [eventOf(eventType), guardOf(transition) ?? (guarded ? 'otherwise' : '')]
    .filter((part) => part !== '')
    .join(', ');
}

/** What has happened, in a word: the operator's choice, or a failure. Success goes without saying. */
function eventOf(eventType: string): string {
  if (eventType.startsWith('operator.')) return inWords(eventType.slice('operator.'.length));
  return eventType.startsWith('xstate.error.') ? 'fails' : '';
}

function guardOf({ guard }: AnyTransitionDefinition): string | undefined {
  if (guard === undefined) return undefined;
  return inWords(typeof guard === 'string' ? guard : 'type' in guard ? String(guard.type) : 'a condition');
}

/** Ways between the same two states become one. */
function joined(ways: readonly Way[]): Way[] {
  const labels = Map.groupBy(ways, ({ from, to }) => `${from} ${to}`);
  return [...labels.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [{ ...first, label: [first, ...rest].map(({ label }) => label).join(' / ') }],
  );
}

function stopsOf(ways: readonly Way[]): string {
  const asking = Map.groupBy(ways.filter(isStop), ({ to }) => to);
  const sentences = [...asking].map(([target, stops]) => {
    const states = new Set(stops.map(({ from }) => `\`${from}\``));
    return `Not drawn: *stop* leads to \`${target}\` from ${[...states].join(', ')}.`;
  });
  return sentences.join('\n');
}

function isStop(way: Way): boolean {
  return way.label === 'stop';
}

function titleOf(state: AnyStateNode): string {
  const { title } = state.meta as { readonly title: string };
  return title.replaceAll('"', '');
}

/** `goOn` becomes `go on`. */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function classOf(tag: string): string {
  return tag.replace('-', '');
}
