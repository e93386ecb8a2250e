import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { chances, numberOf, shuffledPlace } from './random.ts';

export interface FaultTarget {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below the instance, with parameters: `/backups/:id`. */
  readonly path: string;
  /** Effects that make sense here. */
  readonly startsTask?: boolean;
  readonly streams?: boolean;
}

export interface Named {
  readonly name: string;
  readonly guid: string;
  /** A share of all instances is one of each role. */
  readonly role?: string | undefined;
}

export class FaultTable {
  readonly #targets: readonly FaultTarget[];
  readonly #instances: readonly Named[];
  #pending: Pending[] = [];
  #ranks: ReadonlyMap<string, Rank> | undefined;
  /** Calls by instance and endpoint, once a fault hits a share of the instances. */
  readonly #called = new Map<string, Map<string, number>>();
  readonly #struck: Partial<Record<Effect['kind'], number>> = {};

  constructor(targets: readonly FaultTarget[], instances: readonly Named[]) {
    this.#targets = targets;
    this.#instances = instances;
  }

  /** In their current state: `after` and `times` count down. */
  get open(): readonly FullFault[] {
    return this.#pending.map(({ fault, pass, left }) => ({ ...fault, after: pass, times: left }));
  }

  /** Calls hit by each kind of effect. */
  get struck(): Readonly<Partial<Record<Effect['kind'], number>>> {
    return { ...this.#struck };
  }

  /** Throws `lab.fault` for a fault that could never happen: it would prove nothing. */
  add(input: unknown): void {
    const fault = this.check(input);
    this.#pending.push({ fault, pass: fault.after, left: fault.times, chance: chances(fault.seed) });
  }

  /** With all defaults filled in. Throws like `add`, and adds nothing. */
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
      const names = someNames(this.#instances);
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
    const isIn = hit.some(({ fault }) => fault.share !== undefined) ? this.#counted(target, instance) : NEVER;
    for (const pending of hit.toSorted((left, right) => turnOf(left) - turnOf(right))) {
      const { effect } = pending.fault;
      if (effect.kind !== 'delay' && effects.some(({ kind }) => kind === effect.kind)) continue;
      if (!strikes(pending, isIn)) continue;
      effects.push(effect);
      this.#struck[effect.kind] = (this.#struck[effect.kind] ?? 0) + 1;
      if (ENDING.has(effect.kind)) break;
    }
    this.#pending = this.#pending.filter(({ left }) => left !== 0);
    return effects;
  }

  clear(): void {
    this.#pending = [];
  }

  /** Counts a call, and tells of which shares it is a part. */
  #counted({ method, path }: FaultTarget, { guid }: Named): IsIn {
    this.#ranks ??= ranksOf(this.#instances);
    const rank = this.#ranks.get(guid);
    if (rank === undefined) return NEVER;
    const endpoint = `${method} ${path}`;
    const called = this.#called.get(endpoint) ?? new Map<string, number>();
    const earlier = called.get(guid) ?? 0;
    this.#called.set(endpoint, called.set(guid, earlier + 1));
    return ([from, to], seed) => {
      const place = shuffledPlace(rank.at, rank.of, numberOf(`${seed} ${endpoint} ${earlier}`));
      return place >= Math.round(from * rank.of) && place < Math.round(to * rank.of);
    };
  }
}

/** From 0, and of how many of its role. */
interface Rank {
  readonly at: number;
  readonly of: number;
}

/** Whether a call belongs to a share of its role. */
type IsIn = (share: readonly [from: number, to: number], seed: number) => boolean;

const NEVER: IsIn = () => false;

function ranksOf(instances: readonly Named[]): ReadonlyMap<string, Rank> {
  const groups = Map.groupBy(instances, ({ role }) => role);
  return new Map(
    [...groups.values()].flatMap((group) =>
      group.map(({ guid }, at): [string, Rank] => [guid, { at, of: group.length }]),
    ),
  );
}

/** A lab may have thousands. */
export function someNames(instances: readonly Named[]): string {
  const names = instances.slice(0, 20).map(({ name }) => name);
  const others = instances.length - names.length;
  return others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} more`;
}

interface Pending {
  readonly fault: FullFault;
  /** Calls still let through. */
  pass: number;
  left: number | 'always';
  /** The fault's next random number, from 0 to below 1. */
  readonly chance: () => number;
}

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
function strikes(pending: Pending, isIn: IsIn): boolean {
  if (pending.pass > 0) {
    pending.pass -= 1;
    return false;
  }
  const { probability, seed, share } = pending.fault;
  if (share === undefined ? pending.chance() >= probability : !isIn(share, seed)) return false;
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

/** The property without which the effect makes no sense at an endpoint. */
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

function impossible(why: string): LifeboatError {
  return new LifeboatError('lab.fault', `this fault cannot happen: ${why}`, {
    hints: [
      'only effect is required; method, path, instance, after, times, probability, share and seed may be given',
    ],
  });
}

/** Ten years in milliseconds: a header may have no form for a later date. */
const MAX_SKEW = 3650 * 86_400_000;

const when = z.enum(['before', 'after']);

/**
 * `before` and `after` refer to the work: after it, the service has done what was asked. The client of each
 * call that is hit sees the effect; none depends on luck.
 */
export const Effect = z.discriminatedUnion('kind', [
  /** The call takes this much longer. `after`: the work is done at once and its answer is late. */
  z.strictObject({ kind: z.literal('delay'), ms: z.int().nonnegative(), when: when.default('before') }),
  /** The connection is reset (RST) after the head of the request; nothing has been processed. */
  z.strictObject({ kind: z.literal('refuse') }),
  /** The connection ends without an answer. */
  z.strictObject({ kind: z.literal('drop'), when }),
  /** A router, or the service in trouble, sends this answer instead of the right one. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(400).max(599),
    when,
    body: z.enum(['json', 'html', 'empty']).default('html'),
    /** In a `Retry-After` header (RFC 9110, 10.2.3). */
    retryAfter: z.int().nonnegative().optional(),
  }),
  /** To the same path at another origin. */
  z.strictObject({
    kind: z.literal('redirect'),
    to: z.url({ protocol: /^https?$/ }),
    status: z.literal([301, 302, 303, 307, 308]).default(302),
    when: when.default('before'),
  }),
  /** The work is done and its answer spoiled on the way: see `SPOILS`. */
  z.strictObject({
    kind: z.literal('garble'),
    body: z.enum([
      'html',
      'truncated',
      'empty',
      'text',
      'no-content',
      'strings',
      'objects',
      'nulls',
      'enums',
    ]),
  }),
  /** The task that the call starts fails, or is never picked up (until the faults are cleared). */
  z.strictObject({ kind: z.literal('task'), outcome: z.enum(['failed', 'queued']) }),
  /** Of a download. */
  z.strictObject({ kind: z.literal('slow'), bytesPerSecond: z.int().positive() }),
  /**
   * The connection ends this long after the request, as at a platform router's limit (section 8). A faster
   * answer is held back: all but a download's last byte arrives, of anything else nothing. The work is done.
   */
  z.strictObject({ kind: z.literal('abort'), ms: z.int().nonnegative() }),
  /** The `Date` header is off by this much. */
  z.strictObject({
    kind: z.literal('date'),
    skewMs: z
      .int()
      .min(-MAX_SKEW)
      .max(MAX_SKEW)
      .refine((ms) => ms !== 0, 'must not be 0'),
  }),
  /** Someone else starts a backup of the instance just before this call starts one. */
  z.strictObject({ kind: z.literal('colleague') }),
]);
export type Effect = z.infer<typeof Effect>;

export function effectOf<Kind extends Effect['kind']>(
  effects: readonly Effect[],
  kind: Kind,
): Extract<Effect, { kind: Kind }> | undefined {
  return effects.find((effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind);
}

/** Omitted fields match everything. */
export const Fault = z.strictObject({
  method: z.enum(['GET', 'POST', 'PATCH']).optional(),
  /** A pattern below the instance: `/`, `/backups`, `/backups/:id/download`. */
  path: z.string().optional(),
  /** Name or guid. */
  instance: z.string().optional(),
  /** Matching calls that are let through first. */
  after: z.int().nonnegative().default(0),
  /** Calls that it hits. */
  times: z.union([z.int().positive(), z.literal('always')]).default(1),
  /** The share of matching calls that it hits, chosen by the seed alone. */
  probability: z.number().gt(0).max(1).default(1),
  /**
   * Instead of a probability: the part of all instances of a role that it hits, in an order that the seed
   * shuffles for each endpoint and each call of it. `[0, 0.01]` and `[0.01, 0.02]` are two hundredths that
   * never meet. The order of the calls does not change which instances they are.
   */
  share: z
    .tuple([z.number().min(0).max(1), z.number().min(0).max(1)])
    .refine(([from, to]) => from < to, 'must begin before it ends')
    .optional(),
  seed: z.int().nonnegative().default(1),
  effect: Effect,
});
/** As written: only `effect` is required. */
export type Fault = z.input<typeof Fault>;
type FullFault = z.output<typeof Fault>;

/** Not sent by the service, or not in this form. */
export interface StrangeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** In words that the service or a router uses. */
export function saying(status: number): { readonly word: string; readonly description: string } {
  const [, word, description] = wordsOf(status);
  return { word, description };
}

/** A router's text in place of the right answer. */
export function strangeReply(
  status: number,
  look: 'html' | 'empty',
  headers: StrangeReply['headers'] = {},
): StrangeReply {
  const [phrase, , description] = wordsOf(status);
  const text =
    look === 'html' ? `<html><body><h1>${status} ${phrase}</h1>${description}</body></html>\n` : '';
  return { status, headers: { 'content-type': TYPES[look], ...headers }, text };
}

/** If nothing is behind the address. */
export function routerWithoutBackend(): StrangeReply {
  return strangeReply(502, 'html', { 'x-cf-routererror': 'endpoint_failure' });
}

/** To the same path and query at another origin. */
export function redirectReply(status: number, to: string, path: string): StrangeReply {
  const { pathname, search } = new URL(path, to);
  const location = new URL(`${pathname}${search}`, to).href;
  return { status, headers: { location, 'content-type': TYPES.empty }, text: '' };
}

/** Claims to be JSON and is not. */
export function textReply(status: number): StrangeReply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    text: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
  };
}

const TYPES = { html: 'text/html', empty: 'text/plain' } as const;

type Words = readonly [phrase: string, word: string, description: string];

const UPSTREAM: Words = ['Bad Gateway', 'upstreamError', 'error in upstream communication'];
const REFUSED: Words = ['Refused', 'requestRefused', 'the request was refused'];

/** Section 7, plus what routers add. */
const WORDS: Readonly<Record<number, Words>> = {
  401: ['Unauthorized', 'unauthorized', 'no valid authentication credentials'],
  403: ['Forbidden', 'forbidden', 'the credentials lack the right to perform this request'],
  404: ['Not Found', 'notFound', 'the requested route does not exist'],
  409: ['Conflict', 'alreadyInProgress', 'the same action is already in progress'],
  429: ['Too Many Requests', 'tooManyRequests', 'too many requests'],
  500: ['Internal Server Error', 'upstreamError', 'unexpected error while handling the request'],
  503: ['Service Unavailable', 'upstreamError', 'the service is not available'],
  504: ['Gateway Timeout', 'upstreamError', 'timeout in upstream communication'],
};

function wordsOf(status: number): Words {
  return WORDS[status] ?? (status < 500 ? REFUSED : UPSTREAM);
}

/** Ways to spoil the content of a JSON answer so that it is still JSON. */
type Spoil = 'strings' | 'objects' | 'nulls' | 'enums';

/** With a field of a closed set of words (section 3); parameters without their names. */
const WITH_WORDS: ReadonlySet<string> = new Set([
  'GET /',
  'GET /backups',
  'GET /backups/:',
  'GET /restores',
  'GET /restores/:',
  'GET /backups-config',
  'POST /pitr/restore',
]);

/**
 * The same answer with something wrong inside:
 * - `strings`: every number is a text; an answer without numbers is a text as a whole.
 * - `objects`: every list is an object with the indexes as names; an answer without lists is a list of
 *   itself.
 * - `nulls`: every value below the outermost list or object is null; anything else is null as a whole.
 * - `enums`: status, state and backup type are words that the document does not have; a list without any gets
 *   an element with one. The result always differs from the answer.
 */
export function spoil(json: unknown, how: Spoil): unknown {
  if (how === 'nulls') return withNulls(json);
  const spoiled = deeply(json, how);
  if (JSON.stringify(spoiled) !== JSON.stringify(json)) return spoiled;
  if (how === 'strings') return JSON.stringify(json);
  if (how === 'objects') return [json];
  return Array.isArray(json)
    ? [...json, { status: UNKNOWN_WORD }]
    : { ...Object(json), status: UNKNOWN_WORD };
}

function hasWords(method: string, path: string): boolean {
  return WITH_WORDS.has(`${method} ${path.replace(/:\w+/gu, ':')}`);
}

const UNKNOWN_WORD = 'hibernating';
const WORD_FIELDS: ReadonlySet<string> = new Set(['status', 'state', 'backup_type']);

function deeply(value: unknown, how: Spoil): unknown {
  if (how === 'strings' && typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    how === 'enums' && WORD_FIELDS.has(name) && typeof inner === 'string' ? UNKNOWN_WORD : deeply(inner, how),
  ]);
  if (!Array.isArray(value) || how === 'objects') return Object.fromEntries(entries);
  return entries.map(([, inner]) => inner);
}

function withNulls(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) return value.map((inner) => nullFields(inner));
  return nullFields(value);
}

function nullFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.keys(value).map((name) => [name, null]));
}
