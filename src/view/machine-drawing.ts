import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { isFinalAt, leavesOf, metaAt, nodesAt, stepOf } from '../../machines/parts/states.ts';

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

/** A picture, and what it leaves out. */
export interface Drawing {
  /** A Mermaid state diagram. */
  readonly mermaid: string;
  /** Stopping is possible almost everywhere, so it is said and not drawn. One sentence a line. */
  readonly notDrawn: string;
}

/** The phases of a machine, and what leads from one to another. Pure. */
export function drawPhases(machine: AnyStateMachine): Drawing {
  const ways = Object.values(machine.states).flatMap((phase) => {
    const out = [phase, ...statesIn(phase)].flatMap((state) => waysFrom(state, stepOf));
    return out.filter(({ from, to }) => from !== to);
  });
  return draw(machine, Object.keys(machine.states), ways, {
    first: machine.root.initial.target.map(({ key }) => key),
    last: Object.keys(machine.states).filter((id) => isFinalAt(machine, id)),
  });
}

/** The states of one phase, and where they lead. Pure. */
export function drawPhase(machine: AnyStateMachine, phase: string): Drawing {
  const [node] = nodesAt(machine, phase);
  const states = node === undefined ? [] : statesIn(node);
  const ways = states.flatMap((state) => waysFrom(state, (path) => path));
  const paths = new Set([...states.map(pathOf), ...ways.filter((way) => !isStop(way)).map(({ to }) => to)]);
  return draw(machine, [...paths], ways, {
    first: node?.initial.target.map(pathOf) ?? [],
    last: [`${phase}.over`],
  });
}

/** Every picture of a machine, as Mermaid: its phases, then each of them. Pure. */
export function drawingsOf(machine: AnyStateMachine): readonly string[] {
  const phases = Object.values(machine.states).filter((state) => statesIn(state).length > 0);
  return [drawPhases(machine), ...phases.map(({ key }) => drawPhase(machine, key))].map(
    ({ mermaid }) => mermaid,
  );
}

/** Every state of a machine with its ways out, as plain data. Pure. */
export function machineTable(machine: AnyStateMachine): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    leavesOf(machine).flatMap((path) => {
      const state = nodesAt(machine, path).at(-1);
      return state === undefined ? [] : [[path, rowOf(state)]];
    }),
  );
}

function rowOf(state: AnyStateNode) {
  return {
    title: titleOf(state),
    type: state.type,
    tags: state.tags,
    invokes: state.invoke.map(({ id, src }) => ({ id, verb: typeof src === 'string' ? src : id })),
    transitions: transitionsOf(state).flatMap((transition) =>
      (transition.target ?? []).map((target) => ({
        event: transition.eventType,
        guard: guardOf(transition) ?? null,
        to: pathOf(target),
      })),
    ),
  };
}

function draw(
  machine: AnyStateMachine,
  paths: readonly string[],
  ways: readonly Way[],
  { first, last }: { readonly first: readonly string[]; readonly last: readonly string[] },
): Drawing {
  const drawn = ways.filter((way) => !isStop(way));
  const [head, ...rest] = [
    'stateDiagram-v2',
    ...paths.map((path) => `state "${titleAt(machine, path)}" as ${named(path)}`),
    ...first.map((path) => `[*] --> ${named(path)}`),
    ...joined(drawn).map(
      ({ from, to, label }) => `${named(from)} --> ${named(to)}${label === '' ? '' : ` : ${label}`}`,
    ),
    ...last.filter((path) => paths.includes(path)).map((path) => `${named(path)} --> [*]`),
    ...Object.entries(LOOKS).map(([tag, look]) => `classDef ${classOf(tag)} ${look}`),
    ...paths.flatMap((path) => {
      const tags = nodesAt(machine, path).at(-1)?.tags ?? [];
      const tag = Object.keys(LOOKS).find((name) => tags.includes(name));
      return tag === undefined ? [] : [`class ${named(path)} ${classOf(tag)}`];
    }),
  ];
  return { mermaid: [head, ...rest.map((line) => `  ${line}`)].join('\n'), notDrawn: stopsOf(ways) };
}

function statesIn(phase: AnyStateNode): readonly AnyStateNode[] {
  return Object.values(phase.states as Readonly<Record<string, AnyStateNode>>);
}

function pathOf({ path }: AnyStateNode): string {
  return path.join('.');
}

/** Every way out of a state, whether an event leads along it or a condition. */
function waysFrom(state: AnyStateNode, nameOf: (path: string) => string): Way[] {
  const all = transitionsOf(state);
  return all.flatMap((transition) =>
    (transition.target ?? []).map((target) => ({
      from: nameOf(pathOf(state)),
      to: nameOf(pathOf(target)),
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
  const guarded = others.some((other) => other.guard !== undefined);
  return [eventOf(eventType), guardOf(transition) ?? (guarded ? 'otherwise' : '')]
    .filter((part) => part !== '')
    .join(', ');
}

/** What has happened, in a word: the operator's choice, or a failure. Success goes without saying. */
function eventOf(eventType: string): string {
  if (eventType.startsWith('operator.')) return inWords(eventType.slice('operator.'.length));
  return eventType.startsWith('xstate.error.') ? 'fails' : '';
}

/** A condition that has a name says it; of any other only that there is one. */
function guardOf({ guard }: AnyTransitionDefinition): string | undefined {
  if (guard === undefined) return undefined;
  const name = typeof guard === 'string' ? guard : 'type' in guard ? String(guard.type) : guard.name;
  return name === '' || name === 'guard' ? 'on a condition' : inWords(name);
}

/** Ways between the same two states become one. */
function joined(ways: readonly Way[]): Way[] {
  const labels = Map.groupBy(ways, ({ from, to }) => `${from} ${to}`);
  return [...labels.values()].flatMap(([first, ...rest]) => {
    if (first === undefined) return [];
    const words = new Set([first, ...rest].map(({ label }) => label).filter((label) => label !== ''));
    return [{ ...first, label: [...words].join(' / ') }];
  });
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

function titleAt(machine: AnyStateMachine, path: string): string {
  return (metaAt(machine, path)?.title ?? path).replaceAll('"', '');
}

function titleOf(state: AnyStateNode): string {
  const { title } = state.meta as { readonly title: string };
  return title.replaceAll('"', '');
}

/** Mermaid takes no dot in a name. */
function named(path: string): string {
  return path.replaceAll('.', '_');
}

/** `goOn` becomes `go on`. */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function classOf(tag: string): string {
  return tag.replace('-', '');
}
