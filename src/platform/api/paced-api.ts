import type { z } from 'zod';
import { Secret } from '../../base/secret.ts';
import { getIfThere } from '../capi/capi.ts';
import { Job } from '../capi/schemas.ts';
import type { BindingParameters } from '../platform.ts';
import { failedError, hasCode, lostAnswer, wordsOf } from '../problem.ts';
import { lookFor, type Pace, waitFor } from '../wait.ts';
import type { ApiConnection, Changed } from './connection.ts';

/** The dependencies of every change through the API. */
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
 * Waits until a job of the platform is over, up to the limit: a broker that is gone may have accepted the
 * request and will never finish. A job that the platform has forgotten counts as over; the caller checks its
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

/**
 * What a change has begun: from its answer, else found by `made`. `doing` and `thing` name it if the answer
 * was lost, or if the platform accepted the change and does not show it.
 */
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
