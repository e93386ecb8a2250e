import type { Secret } from '../../base/secret.ts';
import { getIfThere } from '../capi/capi.ts';
import { Job } from '../capi/schemas.ts';
import { failedError, wordsOf } from '../problem.ts';
import { waitFor } from '../wait.ts';
import type { PacedApi } from './paced-api.ts';

export interface JobWait {
  /** `unbinding orders-api`: for the error when it fails. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly secrets?: readonly Secret[];
  readonly tell?: ((what: string) => void) | undefined;
  /** Milliseconds. */
  readonly limitMs: number;
}

/**
 * Waits until a job of the platform is over, up to the limit: a broker that is gone may have taken the wish
 * and will never be done. A job that the platform has forgotten counts as over; what it was for is looked at
 * by the caller. Tells when it was seen to be over, by the platform's clock. Rejects with `platform.failed`:
 * with the platform's words, or after the limit.
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
    tell?.(job.state === 'POLLING' ? `${what}: the broker is at it` : what);
    return undefined;
  });
}
