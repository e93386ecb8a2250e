import * as z from 'zod';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { timeLimit } from '../base/time-limit.ts';
import { type CallOptions, jsonHeaders } from './call.ts';
import { badAnswerError, transportError } from './failures.ts';
import { authorise } from './interceptors.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { networkFor } from './network.ts';
import { parseAnswer, readProblem } from './problem.ts';
import { orAbort } from './reader.ts';
import { maybe, text } from './schemas.ts';
import type { TokenReader } from './token-source.ts';
import { wholeAnswers } from './whole-answers.ts';

export interface LabAddress {
  /** `http://127.0.0.1:PORT`: an address of this machine, without a path. */
  readonly url: string;
  readonly token: TokenReader;
}

export interface LabCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From `/lab`, with each part encoded. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Limits for an answer in milliseconds: a restarted database recovers first. */
const LOOK_MS = 5_000;
const CHANGE_MS = 60_000;

const LIMITS = { ...DEFAULT_LIMITS, connectMs: 2_000, jsonBytes: 4 * 1024 * 1024 };

/**
 * Sends one request, without repetition or redirects; the token goes only to the lab's origin. Rejects with
 * `lab.unreachable`, `lab.refused`, `lab.bad-answer`, with the errors of the token source, and with the
 * reason of the signal. Texts in the value are untrusted.
 */
export async function askLab<T>(
  { url, token: read }: LabAddress,
  call: LabCall,
  schema: z.ZodType<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { origin, host } = new URL(url);
  const token = await read();
  const ms = call.method === 'GET' ? LOOK_MS : CHANGE_MS;
  const limit = timeLimit(ms);
  const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const { dispatcher, close } = networkFor(origin, undefined, LIMITS).openForReads();
  try {
    const composed = dispatcher.compose(authorise(origin), wholeAnswers(LIMITS));
    const { statusCode, body } = await orAbort(composed.request(optionsOf(origin, call, token, stop)), stop);
    const bytes = Buffer.from(await body.bytes());
    if (statusCode < 200 || statusCode >= 300) throw refusal(statusCode, bytes, token);
    const parsed = schema.safeParse(parseAnswer(bytes, [token]));
    if (parsed.success) return parsed.data;
    const at = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    throw badAnswerError(`it has an unexpected shape${at === '' ? '' : ` (at ${show(at, 80)})`}`);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (limit.aborted) throw silent(host, ms, call);
    throw inWords(transportError(thrown, [token]), host, call);
  } finally {
    // Nothing reads further answers of the lab.
    close().catch(() => undefined);
  }
}

function optionsOf(
  origin: string,
  { method, path, body }: LabCall,
  token: Secret,
  signal: AbortSignal,
): CallOptions {
  return {
    origin,
    path,
    method,
    headers: jsonHeaders(body !== undefined),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    answer: 'whole',
    token,
    signal,
  };
}

function refusal(status: number, body: Buffer, token: Secret): LifeboatError {
  const { text, word } = readProblem(status, body, [token]);
  const said = text ?? word;
  return new LifeboatError(
    'lab.refused',
    `the lab refuses (${status})${said === undefined || said === '' ? '' : `: "${show(said, 300)}"`}`,
    {
      hints:
        status === 401 || status === 403
          ? ['look at `lab.token` of the config: `lifeboat lab` prints one that may do everything']
          : ['nothing was changed: correct it and try again'],
      evidence: { status },
      ...(status === 401 ? { exitCode: EXIT.credentials } : {}),
    },
  );
}

function silent(host: string, ms: number, call: LabCall): LifeboatError {
  return new LifeboatError('lab.unreachable', `the lab at ${host} did not answer within ${ms / 1000} s`, {
    hints: [afterwards(call)],
  });
}

function inWords(error: LifeboatError, host: string, call: LabCall): LifeboatError {
  const { code, shortMessage, evidence } = error;
  if (code === 'lab.refused') return error;
  if (code === 'service.unreachable') {
    return new LifeboatError('lab.unreachable', `no lab answers at ${host}: it may have ended`, {
      hints: ['begin another: `lifeboat lab --out lifeboat.yaml`, or `lifeboat drill`'],
      evidence,
    });
  }
  const isBroken = code === 'service.reset' || code === 'service.timeout';
  const what = isBroken ? 'broke off' : `cannot be used: ${shortMessage}`;
  return new LifeboatError('lab.bad-answer', `the answer of the lab at ${host} ${what}`, {
    hints: [afterwards(call)],
    evidence,
  });
}

function afterwards({ method }: LabCall): string {
  return method === 'GET'
    ? 'nothing was changed: it is safe to try again'
    : 'the lab may still have done it: the Lab screen shows what is true now';
}

/* Other fields of the answers are ignored, so that a newer lab can be used. */

/** Missing fields match everything. */
export const LabFault = z.object({
  method: maybe(text),
  path: maybe(text),
  instance: maybe(text),
  /** Matching calls that it lets through first. */
  after: maybe(z.number()),
  /** Further calls that it hits. */
  times: maybe(z.union([z.number(), z.literal('always')])),
  /** Its share of matching calls. */
  probability: maybe(z.number()),
  effect: z.record(z.string(), z.unknown()),
});
export type LabFault = z.infer<typeof LabFault>;

export const LabOverview = z.object({
  engine: maybe(text),
  /** It has no databases. */
  simulated: maybe(z.boolean()),
  revision: maybe(z.number()),
  scenario: maybe(text),
  faults: z.array(LabFault),
  instances: z.array(z.object({ name: text, state: text, backups: maybe(z.number()) })),
});

/** `GET /lab/calls`: changes that the service executed, oldest first. */
export const LabCalls = z.array(
  z.object({ at: text, endpoint: text, instance: text, detail: maybe(z.record(z.string(), z.unknown())) }),
);

/** `GET /lab/scenario`, and the answer when a scenario begins. */
export const LabScenarios = z.object({
  playing: maybe(text),
  scenarios: z.array(z.object({ name: text, summary: text })),
});

/** `GET /lab/clock`, and the answer to changing it. Milliseconds. */
export const LabClock = z.object({ now: text, rate: z.number(), skewMs: z.number(), aheadMs: z.number() });

export const LabSettings = z.object({ routerMs: z.number(), updateBlocking: z.boolean() });

/** The answer to a disaster, or to its end. */
export const LabDisaster = z.object({ name: text, state: text });

/** For the deletion of an instance. */
export const LabDeleted = z.object({ name: text, state: text });

/** Only lists the active faults. */
export const LabFaults = z.object({ faults: z.array(LabFault) });

/** The file has the new token. */
export const LabTokens = z.object({ file: text });
