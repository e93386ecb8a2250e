import { randomFrom } from '../random.ts';
import type { Accident } from './accident.ts';
import { seedOf } from './draw.ts';
import type { SystemCall } from './strace.ts';
import { MOMENTS, type Moment, type WireBlow } from './wire.ts';

/** What is done to a process, and when. Times in milliseconds after its start. */
export type Blow =
  /** Killed, or asked to leave, when it begins this call of the system; needs strace(1). */
  | {
      readonly how: 'call';
      readonly call: string;
      readonly nth: number;
      /** Below the folder of the bench: only calls on it are counted. */
      readonly path?: string | undefined;
      readonly signal?: 'SIGTERM';
    }
  /** Killed at a moment of a request on a wire. */
  | ({ readonly how: 'wire'; readonly wire: number } & WireBlow)
  | { readonly how: 'kill'; readonly ms: number }
  | { readonly how: 'signal'; readonly ms: number; readonly signal: 'SIGTERM' | 'SIGHUP' | 'SIGINT' }
  /** Stopped for a while and continued. */
  | { readonly how: 'stop'; readonly ms: number; readonly forMs: number }
  /** Stopped, while a second process tries to resume the run. */
  | { readonly how: 'second'; readonly ms: number };

export type Kind =
  | SystemCall['kind']
  | 'leave'
  | 'request'
  | 'instant'
  | 'signal'
  | 'stop'
  | 'second'
  | 'pair';

export const KINDS: readonly Kind[] = [
  ...(['write', 'sync', 'after', 'store', 'file', 'send', 'request', 'exit', 'leave'] as const),
  ...(['pair', 'instant', 'signal', 'stop', 'second'] as const),
];

export interface Point {
  /** `rotate-key/62/headless/sync#12`: the same whenever the suite is run with the same program. */
  readonly name: string;
  readonly kind: Kind;
  /** What is there, for people: `fsync lifeboat.db-wal`. */
  readonly what: string;
  readonly blow: Blow;
  /** What is done to the process that resumes. */
  readonly second?: Blow;
  /** What befalls the store after the process is gone. */
  readonly accident?: Accident;
}

/** What an undisturbed run does on its way. */
export interface Way {
  readonly calls: readonly SystemCall[];
  /** Wire by wire. */
  readonly wires: readonly { readonly connections: number; readonly requests: readonly string[] }[];
}

/** Every point of a way, in a fixed order: what it asks the system for, then each moment of each request. */
export function pointsOf(scene: string, { calls, wires }: Way): Point[] {
  const counts = new Map<string, number>();
  const next = (of: string) => {
    const nth = (counts.get(of) ?? 0) + 1;
    counts.set(of, nth);
    return nth;
  };
  const onWire = (wire: number, words: string, nth: number, moments: readonly Moment[]) =>
    moments.map((at): Point => {
      const name = `${scene}/request#${at}:${WIRES[wire]}${words.replace(' ', '')}:${nth}`;
      return { name, kind: 'request', what: `${at} ${words}`, blow: { how: 'wire', wire, words, nth, at } };
    });
  return [
    ...calls.map(({ kind, call, nth, to, path }): Point => {
      const name = `${scene}/${kind}#${next(kind)}`;
      return { name, kind, what: `${call} ${to}`, blow: { how: 'call', call, nth, path } };
    }),
    // A signal that asks to leave, at each moment when something has just become durable.
    ...calls
      .filter(({ kind }) => kind === 'after')
      .map(({ call, nth, to, path }): Point => {
        const name = `${scene}/leave#${next('leave')}`;
        const blow = { how: 'call', call, nth, path, signal: 'SIGTERM' } as const;
        return { name, kind: 'leave', what: `SIGTERM, ${call} ${to}`, blow };
      }),
    ...wires.flatMap(({ connections, requests }, wire) => [
      ...Array.from({ length: connections }, (_, at) => onWire(wire, '', at + 1, ['accepted'])).flat(),
      ...requests.flatMap((words) => onWire(wire, words, next(`${wire} ${words}`), momentsOf(words))),
    ]),
  ];
}

/** Empty for the service: its requests are most. */
const WIRES = ['', 'platform:'];

/** What only asks can come late or never without a difference. */
function momentsOf(request: string): readonly Moment[] {
  return request.startsWith('GET ') ? MOMENTS.filter((at) => at !== 'late' && at !== 'dropped') : MOMENTS;
}

/**
 * Instants of one kind, uniform over the time that an undisturbed run takes. Each follows from the seed and
 * its name alone.
 */
export function instantsOf(
  scene: string,
  kind: 'instant' | 'signal' | 'stop' | 'second',
  count: number,
  spanMs: number,
  seed: number,
): Point[] {
  return Array.from({ length: count }, (_, at): Point => {
    const name = `${scene}/${kind}#${at + 1}`;
    const draw = randomFrom(seedOf(seed, name));
    const ms = Math.round(draw() * spanMs);
    const blow = blowAt(kind, ms, draw);
    return { name, kind, what: `after ${ms} ms`, blow };
  });
}

function blowAt(kind: 'instant' | 'signal' | 'stop' | 'second', ms: number, draw: () => number): Blow {
  if (kind === 'instant') return { how: 'kill', ms };
  if (kind === 'second') return { how: 'second', ms };
  if (kind === 'stop') return { how: 'stop', ms, forMs: Math.round(100 + draw() * 1_500) };
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
  return { how: 'signal', ms, signal: signals[Math.floor(draw() * 3)] ?? 'SIGTERM' };
}

/** Every pair of a kill on the way and a kill of the process that resumes after it. */
export function pairsOf(scene: string, firsts: readonly Point[], seconds: readonly Point[]): Point[] {
  return firsts.flatMap((first) =>
    seconds.map((second): Point => {
      const name = `${scene}/pair#${tail(scene, first)}+${tail(scene, second)}`;
      return {
        name,
        kind: 'pair',
        what: `${first.what}, then ${second.what}`,
        blow: first.blow,
        second: second.blow,
      };
    }),
  );
}

/**
 * The same point, and then an accident of those given, by turns. Only a process that is killed leaves a store
 * behind.
 */
export function withAccident(point: Point, accidents: readonly Accident[], turn: number): Point {
  const isKill =
    point.blow.how === 'kill' ||
    point.blow.how === 'wire' ||
    (point.blow.how === 'call' && point.blow.signal === undefined);
  const accident = accidents[turn % accidents.length];
  if (!isKill || accident === undefined) return point;
  return { ...point, name: `${point.name}+${accident}`, what: `${point.what}, then ${accident}`, accident };
}

function tail(scene: string, { name }: Point): string {
  return name.slice(scene.length + 1);
}
