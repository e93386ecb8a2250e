import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { type Effect, Fault, type FullFault } from './faults/fault.ts';
import { hasWords } from './faults/strange-reply.ts';

export type { Fault } from './faults/fault.ts';

export interface FaultTarget {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below the instance, with parameters: `/backups/:id`. */
  readonly path: string;
  /** Which of the effects mean something here. */
  readonly startsTask?: boolean;
  readonly streams?: boolean;
}

export interface Named {
  readonly name: string;
  readonly guid: string;
}

/** The faults that are still to happen. */
export class FaultTable {
  readonly #targets: readonly FaultTarget[];
  readonly #instances: readonly Named[];
  #pending: Pending[] = [];

  constructor(targets: readonly FaultTarget[], instances: readonly Named[]) {
    this.#targets = targets;
    this.#instances = instances;
  }

  /** In their current state: `after` and `times` count down. */
  get open(): readonly FullFault[] {
    return this.#pending.map(({ fault, pass, left }) => ({ ...fault, after: pass, times: left }));
  }

  /** Adds a fault. Throws `lab.fault` for one that could never happen: it would prove nothing. */
  add(input: unknown): void {
    const fault = this.check(input);
    this.#pending.push({ fault, pass: fault.after, left: fault.times, chance: chances(fault.seed) });
  }

  /** The fault with all defaults filled in. Throws like `add`, and adds nothing. */
  check(input: unknown): FullFault {
    const parsed = Fault.safeParse(input);
    if (!parsed.success) throw impossible(z.prettifyError(parsed.error).replaceAll('\n', ' '));
    const fault = parsed.data;
    const places = this.#targets.filter((target) => isAt(fault, target));
    if (places.length === 0) {
      const known = this.#targets.map(({ method, path }) => `${method} ${path}`).join(', ');
      throw impossible(`no endpoint matches; there are ${known}`);
    }
    if (!places.some((target) => meansSomething(fault.effect, target))) {
      throw impossible(`no endpoint that matches ${needOf(fault.effect)}`);
    }
    const { instance } = fault;
    if (instance !== undefined && !this.#instances.some((candidate) => isNamed(candidate, instance))) {
      const names = this.#instances.map(({ name }) => name).join(', ');
      throw impossible(`there is no instance ${show(instance)}; there are ${names}`);
    }
    return fault;
  }

  /**
   * The effects for one call, in order, each used up once. A fault that would not show, because another one
   * ends the call first or is of its kind, waits for the next call.
   */
  take(target: FaultTarget, instance: Named): readonly Effect[] {
    const hit = this.#pending.filter(
      ({ fault }) =>
        isAt(fault, target) &&
        meansSomething(fault.effect, target) &&
        (fault.instance === undefined || isNamed(instance, fault.instance)),
    );
    const effects: Effect[] = [];
    for (const pending of hit.toSorted((left, right) => turnOf(left) - turnOf(right))) {
      const { effect } = pending.fault;
      if (effect.kind !== 'delay' && effects.some(({ kind }) => kind === effect.kind)) continue;
      if (!strikes(pending)) continue;
      effects.push(effect);
      if (ENDING.has(effect.kind)) break;
    }
    this.#pending = this.#pending.filter(({ left }) => left !== 0);
    return effects;
  }

  clear(): void {
    this.#pending = [];
  }
}

interface Pending {
  readonly fault: FullFault;
  /** Calls that are still let through. */
  pass: number;
  left: number | 'always';
  /** The fault's next random number, from 0 to below 1. */
  readonly chance: () => number;
}

/** Effects that end a call. */
const ENDING: ReadonlySet<Effect['kind']> = new Set(['refuse', 'drop', 'answer', 'redirect']);

/** When in the course of a call an effect happens. */
function turnOf({ fault: { effect } }: Pending): number {
  if (effect.kind === 'refuse') return 0;
  if ('when' in effect) return effect.when === 'before' ? 2 : 4;
  // Every answer has a date, whatever sends it.
  if (effect.kind === 'date') return 1;
  return effect.kind === 'task' || effect.kind === 'colleague' ? 3 : 5;
}

/** Whether the fault hits this matching call; counts the call. */
function strikes(pending: Pending): boolean {
  if (pending.pass > 0) {
    pending.pass -= 1;
    return false;
  }
  if (pending.chance() >= pending.fault.probability) return false;
  if (pending.left !== 'always') pending.left -= 1;
  return true;
}

function isAt(fault: FullFault, target: FaultTarget): boolean {
  if (fault.method !== undefined && fault.method !== target.method) return false;
  return fault.path === undefined || withoutNames(fault.path) === withoutNames(target.path);
}

/** `/backups/:id` and `/backups/:backup_id` are the same place. */
function withoutNames(path: string): string {
  return path.replace(/:\w+/gu, ':');
}

function isNamed({ name, guid }: Named, instance: string): boolean {
  return name === instance || guid === instance;
}

function meansSomething(effect: Effect, target: FaultTarget): boolean {
  switch (effect.kind) {
    case 'task':
      return target.startsTask === true;
    case 'slow':
      return target.streams === true;
    case 'colleague':
      return target.method === 'POST' && target.path === '/backups';
    case 'garble':
      if (effect.body === 'enums') return hasWords(target.method, target.path);
      return target.streams !== true || !['strings', 'objects', 'nulls'].includes(effect.body);
    default:
      return true;
  }
}

/** The missing property without which the effect is meaningless at an endpoint. */
function needOf(effect: Effect): string {
  switch (effect.kind) {
    case 'task':
      return 'starts a task';
    case 'slow':
      return 'is a download';
    case 'colleague':
      return 'creates a backup';
    default:
      return effect.kind === 'garble' && effect.body === 'enums'
        ? 'answers with a status, a state or a backup type'
        : 'answers with JSON';
  }
}

/** Pseudo-random numbers from 0 to below 1, determined by the seed (mulberry32). */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function impossible(why: string): LifeboatError {
  return new LifeboatError('lab.fault', `this fault cannot happen: ${why}`, {
    hints: [
      'only effect is required; method, path, instance, after, times, probability and seed may be given',
    ],
  });
}
