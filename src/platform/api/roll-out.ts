import { show } from '../../base/text.ts';
import { isOf, isSince, labelsOf, newestFirst, RUN_LABEL } from '../capi/bindings.ts';
import { listAll } from '../capi/capi.ts';
import { Deployment } from '../capi/schemas.ts';
import { failedError, hasCode, lostAnswer } from '../problem.ts';
import { lookFor, waitFor } from '../wait.ts';
import type { AfterRestore, PacedApi } from './paced-api.ts';

export interface RolledOut {
  readonly deployment: Deployment;
  /** It was over when it was found. */
  readonly before: boolean;
}

/**
 * The newest deployment that this run has begun for the application since then. `unavailable`: this platform
 * does not let us deploy.
 */
export async function deploymentOf(
  { api }: PacedApi,
  appGuid: string,
  { runId, signal }: AfterRestore,
  since: string,
): Promise<Deployment | 'unavailable' | undefined> {
  const query = { app_guids: appGuid, label_selector: `${RUN_LABEL}=${runId}` };
  try {
    const all = await listAll(api, '/v3/deployments', query, Deployment, signal);
    return newestFirst(all).find((one) => isOf(runId, one) && isSince(one, since));
  } catch (thrown) {
    if (hasCode(thrown, 'platform.not-found', 'platform.forbidden')) return 'unavailable';
    throw thrown;
  }
}

/**
 * Rolls a droplet out, instance by instance, or the current one again where none is given. A deployment that
 * this run has begun is adopted. Gives undefined where the platform has no deployments, and rejects with
 * `platform.failed` when it was canceled, pushed aside by another, or made no progress for as long as the
 * tool `cf` would wait.
 */
export async function rollOut(
  paced: PacedApi,
  appGuid: string,
  droplet: string | undefined,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<RolledOut | undefined> {
  const earlier = await deploymentOf(paced, appGuid, options, since);
  if (earlier === 'unavailable') return undefined;
  const adopted = earlier !== undefined && (isUnderWay(earlier) || reasonOf(earlier) === 'DEPLOYED');
  const begun = adopted ? earlier : await begin(paced, appGuid, droplet, what, options, since);
  if (begun === undefined) return undefined;
  const before = adopted && reasonOf(earlier) === 'DEPLOYED';
  return { deployment: before ? begun : await waitForDeployment(paced, begun.guid, what, options), before };
}

async function begin(
  paced: PacedApi,
  appGuid: string,
  droplet: string | undefined,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<Deployment | undefined> {
  const { api, pace } = paced;
  const { signal, mayLeave, runId } = options;
  const ours = async () => {
    const one = await deploymentOf(paced, appGuid, options, since);
    return one === 'unavailable' || one === undefined || isEndedBadly(one) ? undefined : one;
  };
  const sent = await api
    .send({
      method: 'POST',
      path: '/v3/deployments',
      body: {
        strategy: 'rolling',
        ...(droplet === undefined ? {} : { droplet: { guid: droplet } }),
        relationships: { app: { data: { guid: appGuid } } },
        metadata: labelsOf(runId),
      },
      signal,
      mayLeave,
      made: ours,
    })
    .catch((thrown: unknown) => {
      if (hasCode(thrown, 'platform.not-found', 'platform.forbidden')) return undefined;
      throw thrown;
    });
  if (sent === undefined) return undefined;
  const begun = sent.outcome === 'accepted' ? Deployment.safeParse(sent.json).data : undefined;
  if (begun !== undefined) return begun;
  if (sent.outcome === 'lost' && hasCode(sent.error, 'platform.stopped')) throw sent.error;
  const found = await lookFor(pace, signal, ours);
  if (found !== undefined) return found;
  throw sent.outcome === 'lost'
    ? lostAnswer(`rolling out ${what}`, sent.error)
    : failedError(`the platform took the deployment of ${what} and does not show it`, '');
}

async function waitForDeployment(
  { api, pace }: PacedApi,
  guid: string,
  what: string,
  { signal, tell }: AfterRestore,
): Promise<Deployment> {
  let progress = '';
  let progressAt = Date.now();
  return waitFor({ signal, pace, what }, async () => {
    const { value } = await api.get(`/v3/deployments/${encodeURIComponent(guid)}`, Deployment, signal);
    const reason = reasonOf(value);
    const words = show(value.status.details?.error ?? '');
    if (!isUnderWay(value)) {
      if (reason === 'DEPLOYED') return value;
      throw failedError(`the deployment of ${what} ended as ${show(reason, 40)}`, words, {
        deployment: guid,
      });
    }
    tell?.(`${what}: rolling out${words === '' ? '' : ` (${words})`}`);
    const now = value.status.details?.last_successful_healthcheck ?? '';
    if (now !== progress) [progress, progressAt] = [now, Date.now()];
    if (Date.now() - progressAt >= pace.startupMs) {
      const minutes = Math.round(pace.startupMs / 60_000);
      throw failedError(`the deployment of ${what} makes no progress for ${minutes} minutes`, words, {
        deployment: guid,
      });
    }
    return undefined;
  });
}

function isUnderWay({ status }: Deployment): boolean {
  return status.value !== 'FINALIZED';
}

function isEndedBadly(deployment: Deployment): boolean {
  return !isUnderWay(deployment) && reasonOf(deployment) !== 'DEPLOYED';
}

function reasonOf({ status }: Deployment): string {
  return status.reason ?? '';
}
