import { isOf, isSince, labelsOf, newestFirst, RUN_LABEL } from '../capi/bindings.ts';
import { getIfThere, listAll } from '../capi/capi.ts';
import type { App, Build } from '../capi/schemas.ts';
import { Build as BuildSchema, Package } from '../capi/schemas.ts';
import { failedError, hasCode, lostAnswer } from '../problem.ts';
import { lookFor, waitFor } from '../wait.ts';
import type { AfterRestore, PacedApi } from './paced-api.ts';

export interface Staged {
  readonly build: string;
  readonly droplet: string;
}

/**
 * The build that this run has begun for the application since then, newest first; failed ones are left out.
 */
export async function buildOf(
  { api }: PacedApi,
  appGuid: string,
  { runId, signal }: AfterRestore,
  since: string,
): Promise<Build | undefined> {
  const query = { app_guids: appGuid, label_selector: `${RUN_LABEL}=${runId}` };
  const builds = await listAll(api, '/v3/builds', query, BuildSchema, signal);
  return newestFirst(builds).find(
    (build) => isOf(runId, build) && isSince(build, since) && build.state !== 'FAILED',
  );
}

/**
 * Stages the newest package of an application anew, so that its droplet is made with the credentials of now.
 * A build that this run has begun is adopted. Rejects with `platform.failed` and the words of the build.
 */
export async function stage(
  paced: PacedApi,
  app: App,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<Staged> {
  const { api, pace } = paced;
  const { signal, tell } = options;
  const begun =
    (await buildOf(paced, app.guid, options, since)) ?? (await begin(paced, app, what, options, since));
  tell?.(`${what}: staging`);
  const waiting = { signal, pace, what: `the staging for ${what}`, limitMs: pace.stagingMs };
  return waitFor(waiting, async () => {
    const path = `/v3/builds/${encodeURIComponent(begun.guid)}`;
    const build = (await getIfThere(api, path, BuildSchema, signal))?.value;
    if (build === undefined) throw failedError(`the build for ${what} is gone`, '', { build: begun.guid });
    if (build.state === 'FAILED') {
      throw failedError(`the staging for ${what} has failed`, build.error ?? '', { build: build.guid });
    }
    const droplet = build.state === 'STAGED' ? build.droplet?.guid : undefined;
    return droplet === undefined ? undefined : { build: build.guid, droplet };
  });
}

async function begin(
  paced: PacedApi,
  app: App,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<{ readonly guid: string }> {
  const { api, pace } = paced;
  const { signal, mayLeave, runId } = options;
  const query = { app_guids: app.guid, states: 'READY', order_by: '-created_at' };
  const packages = await listAll(api, '/v3/packages', query, Package, signal);
  const [newest] = newestFirst(packages.filter(({ state }) => state === 'READY'));
  if (newest === undefined) {
    throw failedError(`there is no package to stage for ${what}`, '', {}, ['push the application again']);
  }
  const ours = () => buildOf(paced, app.guid, options, since);
  const sent = await api.send({
    method: 'POST',
    path: '/v3/builds',
    body: { package: { guid: newest.guid }, metadata: labelsOf(runId) },
    signal,
    mayLeave,
    made: ours,
  });
  const begun = sent.outcome === 'accepted' ? BuildSchema.safeParse(sent.json).data : undefined;
  if (begun !== undefined) return begun;
  if (sent.outcome === 'lost' && hasCode(sent.error, 'platform.stopped')) throw sent.error;
  const found = await lookFor(pace, signal, ours);
  if (found !== undefined) return found;
  throw sent.outcome === 'lost'
    ? lostAnswer(`the staging for ${what}`, sent.error)
    : failedError(`the platform took the staging for ${what} and does not show it`, '');
}
