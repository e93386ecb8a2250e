import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { plainAddress, redact } from '../../base/redact.ts';
import type { Secret } from '../../base/secret.ts';
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
import type { Capi, Reported } from '../capi/capi.ts';
import { Errors } from '../capi/schemas.ts';
import { badAnswer, platformErrorFrom, refusalOf, stopped } from '../problem.ts';
import { pauseFor } from '../wait.ts';

/** A call that changes something. */
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
export type Changed =
  | { readonly outcome: 'accepted'; readonly json: unknown; readonly job: string | undefined }
  | { readonly outcome: 'lost'; readonly error: LifeboatError };

/** Cloud Foundry's v3 API over HTTP: reads are retried, changes are sent once. */
export interface ApiConnection extends Capi {
  readonly origin: string;
  /**
   * Sends once, on its own connection; after a 401 once more with a new token, and after a 429 when the
   * platform allows it, unless what it makes exists already. A failed connection is retried as well. Rejects
   * with a refusal (`platform.refused`, `platform.forbidden`, …), with the error of `mayLeave`, and if
   * nothing was ever sent.
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
