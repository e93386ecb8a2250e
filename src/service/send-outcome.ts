import type { Dispatcher } from 'undici';
import * as z from 'zod';
import { LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { Secret } from '../base/secret.ts';
import { type Untrusted, untrust } from '../base/text.ts';
import type { SendCall } from './call.ts';
import type { SendOutcome, UpdateSetting } from './client.ts';
import { badAnswerError, transportError } from './failures.ts';
import { type Limits, retryAfterMs } from './limits.ts';
import { parseJson, problemError, readProblem } from './problem.ts';
import { dateOf, looksLikeHtml, notJsonWords } from './reader.ts';
import { readCapped } from './whole-answers.ts';

/** Complete without a body, from any sender (RFC 9110 sections 15.3.3 and 15.3.5). */
const NEEDS_NO_BODY: readonly number[] = [202, 204];

const REFUSED: readonly number[] = [400, 401, 403, 404, 412, 422, 429];

/**
 * Decided before a request is processed, by any sender (RFC 9110 sections 15.5.2 and 15.5.6, RFC 6585 section
 * 4), so no words are needed.
 */
const REFUSED_UNREAD: readonly number[] = [401, 405, 407, 429];

/** For a call that must not be sent twice. */
export async function outcomeOf<T>(
  call: SendCall<T>,
  response: Dispatcher.ResponseData,
  secrets: readonly Secret[],
  limits: Limits,
): Promise<SendOutcome<T>> {
  const { statusCode: status, headers } = response;
  const success = status >= 200 && status < 300;
  const serverDate = dateOf(headers);
  const body = await readCapped(response.body, success ? limits.jsonBytes : limits.errorBytes);
  if (success) {
    const page = body === undefined ? /html/iu.test(String(headers['content-type'])) : looksLikeHtml(body);
    const json = body === undefined ? undefined : parseJson(body);
    if (!page && isAcceptance(call, status, body, json)) {
      const value = call.read(json, (text) => redact(text, secrets));
      const raw = body === undefined ? undefined : parseJson(Buffer.from(redact(body.toString(), secrets)));
      return { outcome: 'accepted', value, raw, status, serverDate };
    }
    const what = page
      ? 'a web page came back instead of an answer'
      : json === undefined && body !== undefined && body.length > 0
        ? notJsonWords(body)
        : 'the answer is not one of the service';
    const error = badAnswerError(what, { status });
    return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate };
  }
  const problem = readProblem(status, body ?? Buffer.alloc(0), secrets);
  const error = problemError(problem, headers);
  // Other refusals count only in the service's own words: a proxy can replace an answer with its own 403.
  if (REFUSED_UNREAD.includes(status) || (REFUSED.includes(status) && problem.fromService)) {
    return {
      outcome: 'refused',
      failure: error.toFailure(),
      serverDate,
      ...againOf(status, headers, limits),
    };
  }
  return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate };
}

function againOf(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
  limits: Limits,
): { readonly againMs?: number } {
  const asked = retryAfterMs(headers['retry-after']) ?? 0;
  if (status !== 429 || asked > limits.retryAfterMs) return {};
  return { againMs: Math.max(asked, 2 * limits.retryBaseMs) };
}

/** A documented status needs no readable body; any other 2xx needs a body in the service's form. */
function isAcceptance(
  call: SendCall<unknown>,
  status: number,
  body: Buffer | undefined,
  json: unknown,
): boolean {
  if (call.route.success.includes(status)) return true;
  const bare = body === undefined || body.length === 0;
  if (bare && (NEEDS_NO_BODY.includes(status) || (status === 200 && call.route.silent === true))) return true;
  return typeof json === 'object' && json !== null;
}

/** Without an answer. `neverHandedOut`: it provably had no connection. */
export function lost(neverHandedOut: boolean, error: LifeboatError): SendOutcome<never> {
  if (neverHandedOut) return neverSent(error);
  return { outcome: 'unknown', failure: inDoubt(error).toFailure(), serverDate: undefined };
}

/** Not a byte was sent. */
export function neverSent(error: unknown): SendOutcome<never> {
  const known = transportError(error, []);
  const said = known.hints.filter((hint) => !hint.startsWith('nothing was changed'));
  const hints = said.some((hint) => hint.startsWith('nothing was sent'))
    ? said
    : [...said, 'nothing was sent: it is safe to try again'];
  return { outcome: 'never-sent', failure: { ...known.toFailure(), hints }, serverDate: undefined };
}

/** With the hint for a call that may have landed. */
function inDoubt(error: LifeboatError): LifeboatError {
  const options: LifeboatErrorOptions = {
    hints: ['the service may have done it: lifeboat asks the service before it sends anything again'],
    evidence: error.evidence,
    exitCode: error.exitCode,
  };
  return new LifeboatError(error.code, error.shortMessage, options);
}

/*
 * An unexpected success body is still a success: unreadable fields are undefined. `clean` blanks the call's
 * secrets in case the service echoes them.
 */

type Clean = (text: string) => string;

const Id = () => z.int().nonnegative();
const Setting = () => z.object({ type: z.string(), allowed: z.boolean() });

export function readId(json: unknown, field: 'id' | 'restore_id'): number | undefined {
  return pick(Id(), json, field);
}

/** Raw, but well formed for storage. */
export function readText(json: unknown, field: string, clean: Clean): Untrusted | undefined {
  const text = pick(z.string(), json, field);
  return text === undefined ? undefined : untrust(clean(text).toWellFormed());
}

/** Endpoints 3 and 9, and optionally endpoints 13 to 15. */
export function readMessage(json: unknown, clean: Clean): { readonly message: Untrusted | undefined } {
  return { message: readText(json, 'message', clean) };
}

/** Endpoint 3, and creating a backup in V0 (section 4.4). */
export function readCreated(json: unknown, clean: Clean) {
  return { id: readId(json, 'id'), ...readMessage(json, clean) };
}

/** Section 4.2 item 6. */
export function readSetting(json: unknown, clean: Clean): { readonly setting: UpdateSetting | undefined } {
  const setting = pick(Setting(), json, 'allowed_update_time');
  return {
    setting:
      setting === undefined ? undefined : { ...setting, type: untrust(clean(setting.type).toWellFormed()) },
  };
}

function pick<T>(schema: z.ZodType<T>, json: unknown, field: string): T | undefined {
  const value = typeof json === 'object' && json !== null ? Reflect.get(json, field) : undefined;
  return schema.safeParse(value).data;
}
