import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { plainAddress, redact } from '../../base/redact.ts';
import { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import { isLoopback } from '../../service/address.ts';
import { unanswered, whileAwaited } from '../../service/awaited.ts';
import type { Leave } from '../../service/call.ts';
import { openReadingSide, type ReadingOptions } from '../../service/connection.ts';
import { timeoutError, transportError } from '../../service/failures.ts';
import { DEFAULT_LIMITS, type Limits, pauseBeforeConnecting, retryAfterMs } from '../../service/limits.ts';
import { parseAnswer, parseJson } from '../../service/problem.ts';
import { dateOf, notJsonWords, orAbort, type ReadResponse } from '../../service/reader.ts';
import { optionsOnce, sendOnce } from '../../service/send-once.ts';
import { readCapped } from '../../service/whole-answers.ts';
import { type Capi, getIfThere, type Reported } from '../capi/capi.ts';
import { Errors, Job } from '../capi/schemas.ts';
import type { BindingParameters } from '../platform.ts';
import {
  badAnswer,
  failedError,
  hasCode,
  lostAnswer,
  platformErrorFrom,
  refusalOf,
  stopped,
  wordsOf,
} from '../problem.ts';
import { lookFor, type Pace, pauseFor, waitFor } from '../wait.ts';

export interface Change extends Leave {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** Encoded, from `/v3/`. */
  readonly path: string;
  readonly body?: unknown;
  /** The secrets in the body; blanked wherever the platform echoes them. */
  readonly secrets?: readonly Secret[];
  /**
   * Looks for what the change makes. Called before a refused change is sent again, since the refusal may not
   * be the platform's own. Without it, repeating the change makes nothing more.
   */
  readonly made?: () => Promise<unknown>;
}

/** `lost`: the platform may have done it; it must be looked up. A refusal rejects. */
type Changed =
  | { readonly outcome: 'accepted'; readonly json: unknown; readonly job: string | undefined }
  | { readonly outcome: 'lost'; readonly error: LifeboatError };

export interface ApiConnection extends Capi {
  readonly origin: string;
  /**
   * Sends once, on its own connection; again only after a 401 (once, with a new token), after a 429 when the
   * platform allows it unless the thing exists already, and after a failed connection. Rejects with a refusal
   * (`platform.refused`, `platform.forbidden`, …), the error of `mayLeave`, or if nothing was ever sent.
   */
  send(change: Change): Promise<Changed>;
  close(): Promise<void>;
}

export interface ApiOptions extends ReadingOptions {
  /** As printed by `cf api`: https, or http on this machine. */
  readonly api: string;
  readonly limits?: Partial<Limits> | undefined;
}

/** A broker may take a minute to answer the platform, which answers only then. */
const SEND_MS = 3 * 60_000;
const JOB = /\/v3\/jobs\/([\w.-]{1,200})\/?$/u;

/** Nothing is sent until it is used. Throws `config.platform`, `config.ca` and `config.proxy`. */
export function openApi(options: ApiOptions): ApiConnection {
  const base = baseOf(options.api);
  const { origin } = base;
  const limits = { ...DEFAULT_LIMITS, sendMs: SEND_MS, ...options.limits };
  const { reader, network, tokens, closed, close } = openReadingSide(origin, limits, options);
  const urlOf = (path: string) => `${origin}${base.pathname.replace(/\/+$/u, '')}${path}`;

  async function get<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<Reported<T>> {
    try {
      const response = await reader.fetch({ method: 'GET', url: urlOf(path), answer: 'whole', signal });
      const body = Buffer.from(await response.body.bytes());
      if (response.status >= 300) throw await refused(response, body);
      const json = parseAnswer(body, [(await tokens.current()).value]);
      if (json === undefined) throw badAnswer(notJsonWords(body));
      const parsed = schema.safeParse(json);
      if (parsed.success) return { value: parsed.data, at: dateOf(response.headers) };
      const at = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
      throw badAnswer(`the platform's answer has an unexpected shape (at ${show(at, 80)})`);
    } catch (thrown) {
      throw platformErrorFrom(thrown);
    }
  }

  async function refused(response: ReadResponse, body: Buffer): Promise<Error> {
    const secrets = [(await tokens.current()).value];
    return refusalOf(response.status, errorsIn(body), { secrets, ...waitOf(response.headers) });
  }

  async function send(change: Change): Promise<Changed> {
    const stop = AbortSignal.any([closed, change.signal]);
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      if (stop.aborted) throw stopped();
      const token = await orAbort(tokens.current(), stop).catch((thrown: unknown) => {
        throw stop.aborted ? stopped() : thrown;
      });
      const sent = await sendNow(change, token.value, stop);
      if ('unmade' in sent) {
        const soon = pauseBeforeConnecting(sent.unmade, attempt, limits);
        if (soon === undefined || stop.aborted) throw sent.error;
        await pauseFor(soon, stop);
        continue;
      }
      if (!('status' in sent)) return sent;
      const { status, headers, body } = sent;
      if (status >= 200 && status < 300) return accepted(headers, body);
      const secrets = [token.value, ...(change.secrets ?? [])];
      const error = refusalOf(status, errorsIn(body), { secrets, ...waitOf(headers) });
      const isNewToken: boolean = status === 401 && !renewed && (await tokens.renew(token));
      renewed ||= isNewToken;
      const pause =
        status === 429 && attempt < limits.attempts ? pauseOf(headers, limits, attempt) : undefined;
      if (isNewToken || pause !== undefined) {
        await pauseFor(pause ?? 0, stop);
        if ((await change.made?.()) === undefined) continue;
        return { outcome: 'lost', error };
      }
      // A gateway error does not prove that the request was not executed.
      if (status >= 500 || status === 408 || status < 400) return { outcome: 'lost', error };
      throw error;
    }
  }

  async function sendNow(
    change: Change,
    token: Secret,
    stop: AbortSignal,
  ): Promise<Whole | Unmade | (Changed & { outcome: 'lost' })> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(timeoutError(limits.sendMs)), limits.sendMs);
    const { method, mayLeave, secrets } = change;
    const body = change.body === undefined ? undefined : JSON.stringify(change.body);
    const signal = AbortSignal.any([stop, deadline.signal]);
    const asked = { url: new URL(urlOf(change.path)), method, body, token, secrets, signal };
    const way = { network, origin, tap: options.tap, mayLeave };
    const read = async (response: Dispatcher.ResponseData): Promise<Whole> => {
      const { statusCode: status, headers } = response;
      return { status, headers, body: await bodyOf(response, limits) };
    };
    const sinceMs = Date.now();
    const awaited = { what: unanswered(method, asked.url), sinceMs, untilMs: sinceMs + limits.sendMs };
    const sent = await whileAwaited(options.awaits, awaited, () =>
      sendOnce(way, optionsOnce(asked, limits), read),
    ).finally(() => clearTimeout(timer));
    if ('read' in sent) return sent.read;
    if ('refused' in sent) throw sent.refused;
    const thrown = platformErrorFrom(transportError(sent.broke, [token, ...(secrets ?? [])]));
    const error = stop.aborted || !(thrown instanceof LifeboatError) ? stopped() : thrown;
    return sent.unmade ? { unmade: sent.broke, error } : { outcome: 'lost', error };
  }

  return { origin, get, send, close };
}

/** There was no connection, so nothing was sent. */
interface Unmade {
  readonly unmade: unknown;
  readonly error: LifeboatError;
}

interface Whole {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/** The job is named by an address; only its id is used, so that the token goes nowhere else. */
function accepted(headers: Whole['headers'], body: Buffer): Changed {
  const { location } = headers;
  const job = typeof location === 'string' ? JOB.exec(location.split(/[?#]/u)[0] ?? '')?.[1] : undefined;
  return { outcome: 'accepted', json: parseJson(body), job };
}

/** How long a busy platform asks to wait; undefined if that is too long. */
function pauseOf(headers: Whole['headers'], limits: Limits, attempt: number): number | undefined {
  const ms = retryAfterMs(headers['retry-after']) ?? limits.retryBaseMs * 2 ** attempt;
  return ms <= limits.retryAfterMs ? ms : undefined;
}

function errorsIn(body: Buffer) {
  return Errors.safeParse(parseJson(body)).data?.errors.slice(0, 10) ?? [];
}

function waitOf(headers: Whole['headers']) {
  const wait = headers['retry-after'];
  return typeof wait === 'string' ? { retryAfter: wait } : {};
}

/** The status counts without the body: one that breaks off or is too large is treated as empty. */
async function bodyOf({ body }: Dispatcher.ResponseData, { jsonBytes }: Limits): Promise<Buffer> {
  return (await readCapped(body, jsonBytes)) ?? Buffer.alloc(0);
}

function baseOf(api: string): URL {
  const url = URL.canParse(api) ? new URL(api) : undefined;
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== undefined && safe && url.username === '' && url.password === '' && !/[?#]/u.test(api))
    return url;
  const plain = plainAddress(api);
  const shown = plain === undefined ? '' : `: ${show(redact(plain), 120)}`;
  throw new LifeboatError('config.platform', `the platform's api is not a plain https address${shown}`, {
    hints: ['copy what `cf api` prints: https://api.HOST', 'the token has its own setting, `token`'],
    exitCode: EXIT.usage,
  });
}

export interface PacedApi {
  readonly api: ApiConnection;
  readonly pace: Pace;
}

interface JobWait {
  /** `unbinding orders-api`: for the error if it fails. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly secrets?: readonly Secret[];
  readonly tell?: ((what: string) => void) | undefined;
  /** Milliseconds. */
  readonly limitMs: number;
}

/**
 * Waits until a job is over; a job that the platform has forgotten counts as over, and the caller checks its
 * purpose. Returns when it was seen to be over, by the platform's clock. Rejects with `platform.failed`: with
 * the platform's words, or after the limit.
 */
export async function waitForJob(
  { api, pace }: PacedApi,
  guid: string | undefined,
  { what, signal, secrets, tell, limitMs }: JobWait,
): Promise<{ readonly at?: Date | undefined }> {
  if (guid === undefined) return {};
  return waitFor({ signal, pace, what, limitMs }, async () => {
    const reported = await getIfThere(api, `/v3/jobs/${encodeURIComponent(guid)}`, Job, signal);
    const job = reported?.value;
    if (job === undefined || job.state === 'COMPLETE') return { at: reported?.at };
    if (job.state === 'FAILED') {
      throw failedError(`${what} has failed`, wordsOf(job.errors ?? [], secrets), { job: guid });
    }
    tell?.(job.state === 'POLLING' ? `${what}: the broker is working on it` : what);
    return undefined;
  });
}

/**
 * After a lost answer, determines from the platform whether the change was made: `made` looks for it. Rejects
 * with `platform.stopped` if the call was stopped, and with the error of a lost answer if nothing shows.
 */
export async function requireMade(
  { pace }: PacedApi,
  what: string,
  sent: Changed,
  signal: AbortSignal,
  made: () => Promise<unknown>,
): Promise<void> {
  if (sent.outcome !== 'lost') return;
  if (hasCode(sent.error, 'platform.stopped')) throw sent.error;
  if ((await lookFor(pace, signal, made)) === undefined) throw lostAnswer(what, sent.error);
}

/** What a change began: from its answer, else found by `made`. `doing` and `thing` name it in errors. */
export async function begunBy<T>(
  paced: PacedApi,
  { doing, thing, schema }: { readonly doing: string; readonly thing: string; readonly schema: z.ZodType<T> },
  sent: Changed,
  signal: AbortSignal,
  made: () => Promise<T | undefined>,
): Promise<T> {
  const begun = sent.outcome === 'accepted' ? schema.safeParse(sent.json).data : undefined;
  if (begun !== undefined) return begun;
  await requireMade(paced, doing, sent, signal, made);
  const found = await lookFor(paced.pace, signal, made);
  if (found !== undefined) return found;
  throw failedError(`the platform accepted ${thing} and does not show it`, '');
}

const MIN = 4;
const DEEPEST = 20;

/** Every text in binding parameters, to be blanked wherever the platform or its broker quotes it. */
export function secretsIn(parameters: BindingParameters | undefined): Secret[] {
  return textsIn(parameters, 0).map((text) => new Secret(text));
}

function textsIn(value: unknown, depth: number): string[] {
  // Shorter ones are words like `rw`: blanking them would ruin the sentence.
  if (typeof value === 'string') return value.length < MIN ? [] : [value];
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}
