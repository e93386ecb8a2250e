import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { isFinalAt, leavesOf, metaAt, nodesAt, stepOf, stepsOf } from '../../machines/parts/states.ts';

/** With its trigger: `''` if it has none. */
interface Way {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

type First = { readonly path: string; readonly label: string };

/** The strongest tag first. The titles say the same in words. */
const LOOKS: Readonly<Record<string, string>> = {
  destructive: 'fill:#b91c1c,color:#ffffff',
  failed: 'fill:#fde2e2,color:#7f1d1d',
  'in-doubt': 'fill:#fef3c7,color:#78350f',
  question: 'fill:#dbeafe,color:#1e3a5f',
};

export interface Drawing {
  /** A Mermaid state diagram. */
  readonly mermaid: string;
  /** Sentences, one a line: stopping is possible almost everywhere, so it is not drawn, nor are endings. */
  readonly notDrawn: string;
}

/**
 * The phases and the ways between them; with the context of a run only those that it passes. A state that
 * only decides is no box, and all endings are one mark. Pure.
 */
export function drawPhases(machine: AnyStateMachine, context?: unknown): Drawing {
  const drawn = new Set(stepsOf(machine, context).map(({ id }) => id));
  const nameOf = (path: string) => {
    const phase = stepOf(path);
    return drawn.has(phase) ? phase : isFinalAt(machine, phase) ? END : '';
  };
  const ways = Object.values(machine.states)
    .filter(({ key }) => drawn.has(key))
    .flatMap((phase) => [...waysFrom(phase), ...statesIn(phase).flatMap(leaving(phase))]);
  const ends = new Set(ways.map(({ to }) => to).filter((path) => isFinalAt(machine, path)));
  const between = ways
    .map((way) => ({ ...way, from: nameOf(way.from), to: isStop(way) ? stepOf(way.to) : nameOf(way.to) }))
    .filter(({ from, to }) => to !== from && to !== '');
  const { mermaid, notDrawn } = draw(machine, [...drawn], toOneEnd(between), {
    first: firstAmong(machine, drawn),
    last: [],
  });
  const ending = Object.keys(machine.states)
    .filter((id) => ends.has(id))
    .map((id) => (titleAt(machine, id) === id ? `\`${id}\`` : `\`${id}\` (${titleAt(machine, id)})`))
    .join(', ');
  return { mermaid, notDrawn: [...(notDrawn === '' ? [] : [notDrawn]), `It ends in ${ending}.`].join('\n') };
}

/** If one mark stands for several endings of a phase, a condition would say nothing. */
function toOneEnd(ways: readonly Way[]): readonly Way[] {
  const ending = Map.groupBy(
    ways.filter(({ to }) => to === END),
    ({ from }) => from,
  );
  return ways.map((way) => {
    const isSplit = ending.get(way.from)?.some(({ label }) => label.endsWith('otherwise')) === true;
    return way.to === END && isSplit ? { ...way, label: '' } : way;
  });
}

/** The initial state may be one that only decides. */
function firstAmong(machine: AnyStateMachine, drawn: ReadonlySet<string>): readonly First[] {
  return (machine.root.initial.target as readonly AnyStateNode[])
    .flatMap((state): First[] =>
      drawn.has(state.key)
        ? [{ path: state.key, label: '' }]
        : waysFrom(state).map(({ to, label }) => ({ path: to, label })),
    )
    .filter(({ path }) => drawn.has(path))
    .map((first, _, { length }) => (length === 1 ? { ...first, label: '' } : first));
}

/**
 * Ways out of a phase. A state that only passes on takes the label of the way into it, and `otherwise` names
 * the opposite condition, whose other way stays inside.
 */
function leaving(phase: AnyStateNode) {
  const inside = statesIn(phase).flatMap((state) => waysFrom(state));
  return (state: AnyStateNode): Way[] => {
    const all = transitionsOf(state);
    const conditions = all.flatMap((one) => guardOf(one) ?? []);
    const before = inside.filter(({ to, label }) => to === pathOf(state) && label !== '');
    return waysFrom(state).flatMap((way) => {
      if (way.label.endsWith('otherwise') && conditions.length > 0) {
        const unless = `unless ${conditions.join(' or ')}`;
        return [{ ...way, label: way.label.replace(/otherwise$/u, unless) }];
      }
      if (way.label !== '' || before.length === 0) return [way];
      return before.map(({ label }) => ({ ...way, label }));
    });
  };
}

/** The mark of every ending. */
const END = '[*]';

/** The states of one phase, and their targets. Pure. */
export function drawPhase(machine: AnyStateMachine, phase: string): Drawing {
  const [node] = nodesAt(machine, phase);
  const states = node === undefined ? [] : statesIn(node);
  const ways = states.flatMap((state) => waysFrom(state));
  const paths = new Set([...states.map(pathOf), ...ways.filter((way) => !isStop(way)).map(({ to }) => to)]);
  return draw(machine, [...paths], ways, {
    first: (node?.initial.target ?? []).map((state: AnyStateNode) => ({ path: pathOf(state), label: '' })),
    last: [`${phase}.over`],
  });
}

/** As Mermaid: the phases of a machine, then each phase. Pure. */
export function drawingsOf(machine: AnyStateMachine): readonly string[] {
  const phases = Object.values(machine.states).filter((state) => statesIn(state).length > 0);
  return [drawPhases(machine), ...phases.map(({ key }) => drawPhase(machine, key))].map(
    ({ mermaid }) => mermaid,
  );
}

/** As plain data. Pure. */
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
    title: titleAt(state.machine, pathOf(state)),
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
  { first, last }: { readonly first: readonly First[]; readonly last: readonly string[] },
): Drawing {
  const drawn = ways.filter((way) => !isStop(way));
  const [head, ...rest] = [
    'stateDiagram-v2',
    ...paths.map((path) => `state "${titleAt(machine, path)}" as ${named(path)}`),
    ...first.map(({ path, label }) => `[*] --> ${named(path)}${said(label)}`),
    ...joined(drawn).map(({ from, to, label }) => `${named(from)} --> ${named(to)}${said(label)}`),
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

function said(label: string): string {
  return label === '' ? '' : ` : ${label}`;
}

function pathOf({ path }: AnyStateNode): string {
  return path.join('.');
}

/**
 * With or without an event. By hand, because `toDirectedGraph` of xstate leaves out ways without one: one in
 * six, and those with conditions.
 */
function transitionsOf(state: AnyStateNode): readonly AnyTransitionDefinition[] {
  return [...(state.always ?? []), ...[...state.transitions.values()].flat()];
}

function waysFrom(state: AnyStateNode): Way[] {
  const all = transitionsOf(state);
  return all.flatMap((transition) =>
    (transition.target ?? []).map((target) => ({
      from: pathOf(state),
      to: pathOf(target),
      label: labelOf(transition, all),
    })),
  );
}

function labelOf(transition: AnyTransitionDefinition, siblings: readonly AnyTransitionDefinition[]): string {
  const { eventType } = transition;
  const others = siblings.filter((sibling) => sibling.eventType === eventType && sibling !== transition);
  const guarded = others.some((other) => other.guard !== undefined);
  return [eventOf(eventType), guardOf(transition) ?? (guarded ? 'otherwise' : '')]
    .filter((part) => part !== '')
    .join(', ');
}

/** The operator's choice, a failure or an expiry in a word; success has no label. */
function eventOf(eventType: string): string {
  if (eventType.startsWith('operator.')) return inWords(eventType.slice('operator.'.length));
  if (eventType === 'approval.expired') return 'expires';
  return eventType.startsWith('xstate.error.') ? 'fails' : '';
}

/** A nameless condition is only mentioned. */
function guardOf({ guard }: AnyTransitionDefinition): string | undefined {
  if (guard === undefined) return undefined;
  const name = typeof guard === 'string' ? guard : 'type' in guard ? String(guard.type) : guard.name;
  // A condition given in words.
  if (name.includes(' ')) return name;
  return name === '' || name === 'guard' ? 'on a condition' : inWords(name);
}

/** Joins the ways between the same two states. */
function joined(ways: readonly Way[]): Way[] {
  const pairs = Map.groupBy(ways, ({ from, to }) => `${from} ${to}`);
  return [...pairs.values()].flatMap((pair) => {
    const words = new Set(pair.flatMap(({ label }) => label || []));
    return pair.slice(0, 1).map((way) => ({ ...way, label: [...words].join(' / ') }));
  });
}

function stopsOf(ways: readonly Way[]): string {
  return [...Map.groupBy(ways.filter(isStop), ({ to }) => to)]
    .map(([target, stops]) => {
      const states = new Set(stops.map(({ from }) => `\`${from}\``));
      return `Not drawn: *stop* leads to \`${target}\` from ${[...states].join(', ')}.`;
    })
    .join('\n');
}

function isStop(way: Way): boolean {
  return way.label === 'stop';
}

function titleAt(machine: AnyStateMachine, path: string): string {
  return (metaAt(machine, path)?.title ?? path).replaceAll('"', '');
}

/** Mermaid takes no dot in a name. */
function named(path: string): string {
  return path === END ? path : path.replaceAll('.', '_');
}

/** `goOn` becomes `go on`. */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function classOf(tag: string): string {
  return tag.replace('-', '');
}
