import { effectOf } from '../../machines/verbs.ts';
import { MEANWHILE, type Plan, type Spot } from './director.ts';
import { AT_CONNECT, concerns, FAULTS } from './faults.ts';
import type { Flow } from './flows.ts';
import { ASKS, type Kind, kindOf, WAITED } from './kinds.ts';
import { effectsOn, openPeers } from './peers.ts';
import { countOf, type Seen } from './seen.ts';
import { beginFlow, byFlags } from './stage.ts';
import { expectedOf } from './table.ts';

/** One fault at one endpoint of one flow. */
export interface Case {
  readonly flow: Flow;
  readonly kind: Kind;
  readonly plan: Plan;
  /** How often the step asks for it in an undisturbed run. */
  readonly usual: number;
  /** What an undisturbed run does that must not be done twice. */
  readonly effects: ReadonlyMap<string, number>;
}

/** An endpoint as a flow uses it. */
export interface Endpoint {
  readonly kind: Kind;
  readonly spot: Spot;
  readonly lead?: Spot;
  /** How often the step asks for it when nothing goes wrong. */
  readonly usual: number;
  /** Whether it is known after which request it comes: while something is waited for, it is not. */
  readonly isForeseeable: boolean;
}

export interface Recorded {
  readonly flow: Flow;
  readonly endpoints: readonly Endpoint[];
  readonly effects: ReadonlyMap<string, number>;
}

/**
 * Every endpoint that a flow calls: of each step the first call of each route, and the second look at what is
 * waited for.
 */
export async function recordFlow(flow: Flow): Promise<Recorded> {
  const { seen, effects } = await record(flow);
  const endpoints = endpointsIn(seen).filter(({ kind }) => !ASKS.has(kind));
  const sends = endpoints.filter(({ kind }) => SENDS.has(kind));
  const lists = await Promise.all(sends.map(({ spot }) => listAfter(flow, spot)));
  return { flow, endpoints: [...endpoints, ...lists], effects };
}

/** The call that asks what became of a change whose answer was lost. */
async function listAfter(flow: Flow, spot: Spot): Promise<Endpoint> {
  const { seen } = await record(flow, { ...spot, fault: 'reset-after', times: 'once' });
  const list = endpointsIn(seen).find(
    (one) => ASKS.has(one.kind) && one.spot.at?.verb === spot.at?.verb && one.spot.at?.turn === spot.at?.turn,
  );
  if (list === undefined) throw new Error(`nobody asks what became of ${spot.route}`);
  return { ...list, lead: spot };
}

async function record(flow: Flow, plan?: Plan) {
  const peers = await openPeers({ ...flow, plan });
  const { stage, begun } = await beginFlow(peers, flow);
  const from = peers.director.seen.length;
  try {
    const { exitCode, why } = await stage.drive(begun, byFlags(flow, begun));
    if (plan === undefined && exitCode !== 0)
      throw new Error(`${flow.name} on ${flow.revision} ends with ${exitCode}: ${why}`);
    return { seen: peers.director.seen.slice(from), effects: effectsOn(peers) };
  } finally {
    await stage.close();
    await peers.close();
  }
}

/** Sent at most once: what came of it may have to be asked for. */
const SENDS: ReadonlySet<Kind> = new Set<Kind>(['task', 'nameless', 'action']);
/** What is asked for more than once for one thing: the second time need not be like the first. */
const TWICE: ReadonlySet<Kind> = new Set<Kind>(['poll', 'download', 'only-download']);

function endpointsIn(seen: readonly Seen[]): Endpoint[] {
  const counts = new Map<string, number>();
  const waited = new Set<string>();
  // A restore needs the list of restores once more, as what was there before.
  const isRestoring = seen.some(({ at }) => at !== undefined && effectOf(at.verb) === 'restore');
  return seen.flatMap((one): Endpoint[] => {
    if (one.route.endsWith(MEANWHILE)) return [];
    const found = kindOf(one);
    const kind = found === 'others' && !isRestoring ? 'aside' : found;
    const turn = `${one.at?.verb} ${one.at?.turn}`;
    const key = `${kind} ${turn} ${one.route}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const isForeseeable = !waited.has(turn);
    if (WAITED.has(kind)) waited.add(turn);
    if (count > (TWICE.has(kind) ? 2 : 1)) return [];
    const spot = { peer: one.peer, route: one.route, nth: one.nth, at: one.at };
    return [{ kind, spot, usual: countOf(seen, spot), isForeseeable }];
  });
}

/** Every fault that the table has a verdict for, once and always, at every endpoint. */
export function casesOf({ flow, endpoints, effects }: Recorded): readonly Case[] {
  return endpoints.flatMap(({ kind, spot, lead, usual, isForeseeable }) =>
    FAULTS.filter((fault) => concerns(fault, spot.route)).flatMap((fault) =>
      (['once', 'always'] as const)
        .filter(() => !AT_CONNECT.has(fault) || isForeseeable)
        .map((times): Case => ({ flow, kind, usual, effects, plan: { ...spot, fault, times, lead } }))
        .filter((one) => expectedOf(one) !== 'n/a'),
    ),
  );
}
