import { MEANWHILE, type Plan, type Spot } from './director.ts';
import { AT_CONNECT, FAULTS } from './faults.ts';
import { WALKABLE, type Walkable } from './flows.ts';
import { type Kind, kindOf } from './kinds.ts';
import type { Seen } from './seen.ts';
import { openSite } from './site.ts';
import { byFlags } from './stage.ts';
import { cellOf } from './table.ts';
import { effectsOn } from './trial.ts';
import { setOut } from './walk.ts';

/** One fault at one endpoint of one flow. */
export interface Case {
  readonly flow: Walkable;
  readonly kind: Kind;
  readonly plan: Plan;
  /** What an undisturbed run does that must not be done twice. */
  readonly effects: ReadonlyMap<string, number>;
}

/** An endpoint as a flow uses it. */
export interface Endpoint {
  readonly kind: Kind;
  readonly spot: Spot;
  readonly lead?: Spot;
}

export interface Recorded {
  readonly flow: Walkable;
  readonly endpoints: readonly Endpoint[];
  readonly effects: ReadonlyMap<string, number>;
}

/** Every endpoint that a flow calls: of each step the first call of each route, and the second look at what is waited for. */
export async function recordFlow(flow: Walkable): Promise<Recorded> {
  const { seen, effects } = await record(flow);
  const endpoints = endpointsIn(seen).filter(({ kind }) => kind !== 'list');
  const lists: Endpoint[] = [];
  for (const { kind, spot } of endpoints) {
    if (kind !== 'task' && kind !== 'action') continue;
    const after = await record(flow, { ...spot, fault: 'reset-after', times: 'once' });
    const list = endpointsIn(after.seen).find(
      (one) =>
        one.kind === 'list' && one.spot.at?.verb === spot.at?.verb && one.spot.at?.turn === spot.at?.turn,
    );
    if (list === undefined) throw new Error(`nobody asks what became of ${spot.route}`);
    lists.push({ ...list, lead: spot });
  }
  return { flow, endpoints: [...endpoints, ...lists], effects };
}

async function record(flow: Walkable, plan?: Plan) {
  const site = await openSite({ ...flow, plan });
  const { stage, begun } = await setOut(site, flow);
  const from = site.director.seen.length;
  try {
    const { exitCode, why } = await stage.drive(begun, byFlags(flow, begun));
    if (plan === undefined && exitCode !== 0)
      throw new Error(`${flow.name} on ${flow.revision} ends with ${exitCode}: ${why}`);
    return { seen: site.director.seen.slice(from), effects: effectsOn(site) };
  } finally {
    await stage.close();
    await site.close();
  }
}

/** What is asked for more than once for one thing: the second time need not be like the first. */
const TWICE: ReadonlySet<Kind> = new Set<Kind>(['poll', 'download']);

function endpointsIn(seen: readonly Seen[]): Endpoint[] {
  const counts = new Map<string, number>();
  return seen.flatMap((one): Endpoint[] => {
    if (one.route.endsWith(MEANWHILE)) return [];
    const kind = kindOf(one);
    const key = `${kind} ${one.at?.verb} ${one.at?.turn} ${one.route}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count > (TWICE.has(kind) ? 2 : 1)) return [];
    return [{ kind, spot: { peer: one.peer, route: one.route, nth: one.nth, at: one.at } }];
  });
}

/** Every fault that the table has a verdict for, once and always, at every endpoint. */
export function casesOf({ flow, endpoints, effects }: Recorded): readonly Case[] {
  return endpoints.flatMap(({ kind, spot, lead }) =>
    FAULTS.flatMap((fault) =>
      (['once', 'always'] as const)
        .filter(() => !AT_CONNECT.has(fault) || isForeseeable(kind, spot))
        .filter((times) => cellOf(kind, fault)[times] !== 'n/a')
        .map((times): Case => ({ flow, kind, effects, plan: { ...spot, fault, times, lead } })),
    ),
  );
}

/** Whether it is known beforehand after which request it comes: while something is waited for, only the first is. */
function isForeseeable(kind: Kind, { at }: Spot): boolean {
  return kind !== 'poll' || at?.index === 0;
}

/** Those whose name and revision hold these words; all without any. */
export function flowsNamed(name: string | undefined): readonly Walkable[] {
  return WALKABLE.filter((flow) => name === undefined || `${flow.name} ${flow.revision}`.includes(name));
}
