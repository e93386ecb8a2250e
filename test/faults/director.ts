import { channel } from 'node:diagnostics_channel';
import type { Run } from '../../src/runner/run.ts';
import type { TaskWish } from '../bench-kit/foreign/call.ts';
import type { ForeignServer } from '../bench-kit/foreign/server.ts';
import type { Certificates } from './certificates.ts';
import { AT_CONNECT, type Elsewhere, type Fault, meet, NAMES_OLD, OF_TASKS } from './faults.ts';
import { count, isNext, isSame, positionOf } from './position.ts';
import type { FaultProxy, Passing } from './proxy.ts';
import type { Peer, Position, Seen } from './seen.ts';
import { beSecond, type Hidden, hide, nameOld } from './tasks.ts';

/**
 * Where in a run something happens: by the step of the run where that can be seen, else by counting the
 * requests of a route.
 */
export interface Spot {
  readonly peer: Peer;
  readonly route: string;
  readonly nth: number;
  readonly at?: Position | undefined;
}

/** What goes wrong, and where. */
export interface Plan extends Spot {
  readonly fault: Fault;
  /** `always`: until `calm`. */
  readonly times: 'once' | 'always';
  /** The change whose answer is lost first, so that the service is asked what became of it. */
  readonly lead?: Spot | undefined;
}

export interface World {
  readonly server: () => ForeignServer;
  readonly proxies: Partial<Record<Peer, FaultProxy>>;
  readonly elsewhere: Elsewhere;
  readonly certificates: Certificates | undefined;
}

/** What undici tells of every connection that could not be made. */
const CONNECT_ERRORS = channel('undici:client:connectError');

const LIST = /^GET \S+ \/(?:backups|restores)$/u;
/** Longer than what is asked for once. */
const SECOND_MS = 12_000;
/** After the route of a list that is read while a task is waited for, and when it is over. */
export const MEANWHILE = 'meanwhile';
export const AT_THE_END = 'at the end';

/** Lets a plan happen to the requests of a run, and takes down what was asked for. */
export class Director {
  readonly seen: Seen[] = [];
  hits = 0;
  /** How many requests had come when it happened first. */
  seenBefore = 0;
  /** What becomes of the task of the next change. */
  #wish: TaskWish | undefined;
  readonly #plan: Plan | undefined;
  readonly #world: World;
  readonly #requests = new Map<string, number>();
  readonly #stuck = Promise.withResolvers<void>();
  #run: Run | undefined;
  #on = false;
  #isLed: boolean;
  #isEngaged = false;
  #hidden: Hidden | undefined;
  /** The turn of the wait whose end was announced. */
  #over: string | undefined;

  constructor(plan: Plan | undefined, world: World) {
    this.#plan = plan;
    this.#world = world;
    this.#isLed = plan?.lead === undefined;
    CONNECT_ERRORS.subscribe(this.#onConnectError);
  }

  /** The run to whose steps requests belong from now on. Gives what ends that. */
  watch(run: Run): () => void {
    this.#run = run;
    const unsubscribe = run.subscribe(() => void this.#engage());
    return () => {
      unsubscribe();
      this.#run = undefined;
    };
  }

  /** From now on it happens. What was seen before belongs to other runs. */
  arm(): void {
    this.#on = this.#plan !== undefined;
    this.#requests.clear();
  }

  takeWish(): TaskWish | undefined {
    const wish = this.#wish;
    this.#wish = undefined;
    return wish;
  }

  /** A request is there; what becomes of it. */
  async pass(peer: Peer, route: string, passing: Passing): Promise<void> {
    const named = this.#nameOf(route);
    const nth = this.seen.filter((one) => one.peer === peer && one.route === named).length + 1;
    const at = positionOf(this.#run, this.#requests, named);
    const { method, url: path } = passing;
    const one: Seen = { peer, method, path, route: named, nth, at, worked: false, fault: undefined };
    this.seen.push(one);
    if (at !== undefined) count(at, named, this.#requests);
    const work = () => {
      one.worked = true;
      return passing.work();
    };
    passing.response.once('close', () => void this.#engage());
    await this.#answer({ ...passing, work }, one);
  }

  /** Ends every fault. */
  async calm(): Promise<void> {
    this.#on = false;
    this.#stuck.resolve();
    const { proxies, certificates } = this.#world;
    for (const proxy of Object.values(proxies)) {
      await proxy.refuse(false);
      if (certificates !== undefined) proxy.show(certificates.good);
    }
  }

  end(): void {
    CONNECT_ERRORS.unsubscribe(this.#onConnectError);
    this.#stuck.resolve();
  }

  async #answer(passing: Passing, one: Seen): Promise<void> {
    const plan = this.#plan;
    if (plan === undefined || !this.#on || one.peer !== plan.peer) return this.#properly(passing);
    if (!this.#isLed && plan.lead !== undefined && isAt(plan.lead, one)) {
      this.#isLed = true;
      return meet('reset-after', passing, one.peer, this.#world.elsewhere);
    }
    if (!this.#isHit(plan, one)) return this.#properly(passing);
    this.#hit();
    one.fault = plan.fault;
    if (NAMES_OLD.has(plan.fault)) return nameOld(plan.fault, passing, one, this.#world.server());
    if (plan.fault === 'sent-twice') return this.#twice(passing, one);
    if (!OF_TASKS.has(plan.fault)) return meet(plan.fault, passing, one.peer, this.#world.elsewhere);
    const server = this.#world.server();
    if (plan.fault === 'task-failed') this.#wish = { fails: true };
    if (plan.fault === 'task-stuck') this.#wish = { until: this.#stuck.promise };
    if (plan.fault === 'task-gone') this.#hidden = hide(server, one.route);
    if (plan.fault !== 'two-candidates') return this.#properly(passing);
    await passing.work();
    await beSecond(server, one.route);
    passing.response.destroy();
  }

  /** The second goes on longer than the first: a restore for a while, a backup until everything is well. */
  async #twice(passing: Passing, { peer, route }: Seen): Promise<void> {
    const reply = await passing.work();
    const isBackup = route.endsWith('/backups');
    if (peer === 'service') this.#wish = isBackup ? { until: this.#stuck.promise } : { ms: SECOND_MS };
    await passing.again();
    passing.give(reply);
  }

  #hit(): void {
    if (this.hits === 0) this.seenBefore = this.seen.length;
    this.hits += 1;
  }

  #isHit(plan: Plan, one: Seen): boolean {
    // A clock that is wrong for good is so wherever it is read.
    if (plan.fault === 'future' && plan.times === 'always') return true;
    if (AT_CONNECT.has(plan.fault) || !this.#isLed) return false;
    if (this.hits === 0) return isAt(plan, one);
    return plan.times === 'always' && !OF_TASKS.has(plan.fault) && one.route === plan.route;
  }

  /**
   * While a task is waited for, its list is read for what the end does not tell (revision 62), and where it
   * takes long, for how long others took: the second comes or does not come with the load of the machine.
   */
  #nameOf(route: string): string {
    const at = positionOf(this.#run, this.#requests, route);
    if (at === undefined || !at.verb.startsWith('waitFor') || !LIST.test(route)) return route;
    return `${route} ${this.#over === `${at.verb} ${at.turn}` ? AT_THE_END : MEANWHILE}`;
  }

  async #properly(passing: Passing): Promise<void> {
    const reply = await passing.work();
    const at = positionOf(this.#run, this.#requests, '');
    if (at !== undefined && /"status":"done"/u.test(reply.body.toString('latin1', 0, 2_000)))
      this.#over = `${at.verb} ${at.turn}`;
    passing.give(this.#on ? (this.#hidden?.(passing, reply) ?? reply) : reply);
  }

  /** Breaks the proxy when the next connection is the planned one. */
  async #engage(): Promise<void> {
    const plan = this.#plan;
    if (plan === undefined || !AT_CONNECT.has(plan.fault)) return;
    if (!this.#on || this.#isEngaged || !this.#isLed) return;
    const at = positionOf(this.#run, this.#requests, plan.route);
    if (plan.at === undefined || at === undefined || !isNext(plan.at, at)) return;
    this.#isEngaged = true;
    const { proxies, certificates } = this.#world;
    const proxy = proxies[plan.peer];
    if (plan.fault === 'refused') return proxy?.refuse(true);
    if (certificates === undefined) throw new Error('there are no certificates');
    const { expired, wrongHost, unknownCa } = certificates;
    const bad = plan.fault === 'wrong-host' ? wrongHost : plan.fault === 'unknown-ca' ? unknownCa : expired;
    proxy?.show(bad);
    proxy?.drop();
  }

  readonly #onConnectError = (message: unknown): void => {
    const { connectParams } = message as { readonly connectParams: { readonly port?: string } };
    const plan = this.#plan;
    if (plan === undefined || !this.#on || !this.#isEngaged) return;
    if (Number(connectParams.port) !== this.#world.proxies[plan.peer]?.port) return;
    this.#hit();
    if (plan.times === 'once') void this.calm();
  };
}

function isAt(spot: Spot, { peer, route, nth, at }: Seen): boolean {
  if (peer !== spot.peer || route !== spot.route) return false;
  return spot.at === undefined || at === undefined ? nth === spot.nth : isSame(spot.at, at);
}
