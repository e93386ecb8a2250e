import type { BoundApp, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { Leave } from '../../service/call.ts';
import { boundSince, isOf, isSince, labelsOf, newestFirst, RUN_LABEL } from '../capi/bindings.ts';
import { auditEvents, getIfThere, listAll } from '../capi/capi.ts';
import { findApp, noPackage, packageOf } from '../capi/find-bindings.ts';
import { allFresh, type Running, runningSince, stoppedApp } from '../capi/prove.ts';
import { App, Build, Deployment, Droplet } from '../capi/schemas.ts';
import type { AfterRestore } from '../platform.ts';
import { failedError, hasCode, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { begunBy, type Change, type PacedApi, requireMade } from './connection.ts';

/** See `Platform.restage`. Build and deployment carry the run's label, so an earlier attempt is continued. */
export async function restage(paced: PacedApi, app: BoundApp, options: AfterRestore): Promise<PlatformProof> {
  const { api } = paced;
  const { signal, notBefore, tell } = options;
  const name = show(app.name, 100);
  const found = await findApp(api, app, signal);
  const since = await boundSince(api, found.guid, options);
  if (found.state === 'STOPPED' && !(await stoppedByUs(paced, found, options, since))) {
    return stoppedApp(name, found);
  }
  const staged =
    found.lifecycle?.type === 'docker' ? undefined : await stage(paced, found, name, options, since);
  const rolled = await rollOut(paced, found.guid, staged?.droplet, name, options, since);
  if (rolled === undefined) await restartPlainly(paced, found, staged, name, options, since);
  tell?.(`${name}: starting`);
  const running = await waitUntilFresh(paced, found.guid, name, since, signal);
  return proof(
    rolled?.before === true ? 'already' : 'done',
    `${name} is ${staged === undefined ? 'restarted' : 'restaged'}: ${running.text}`,
    running.startedAt ?? rolled?.deployment.updated_at,
    {
      app: found.guid,
      build: staged?.build,
      droplet: staged?.droplet,
      deployment: rolled?.deployment.guid,
      instances: running.fresh,
      ...(await auditEvents(api, [found.guid], notBefore, signal)),
    },
  );
}

/** Whether an earlier attempt died in the middle: its build exists, but no deployment. */
async function stoppedByUs(
  paced: PacedApi,
  app: App,
  options: AfterRestore,
  since: string,
): Promise<boolean> {
  if ((await buildOf(paced, app.guid, options, since)) === undefined) return false;
  const deployment = await deploymentOf(paced, app.guid, options, since);
  return deployment === undefined || deployment === 'unavailable';
}

async function restartPlainly(
  paced: PacedApi,
  app: App,
  staged: Staged | undefined,
  name: string,
  options: AfterRestore,
  since: string,
): Promise<void> {
  if (staged !== undefined) return restartOn(paced, app.guid, staged.droplet, name, options);
  const running = await runningSince(paced.api, app.guid, msOf(since), options.signal);
  if (running.fresh < running.wanted) await restartAsItIs(paced, app.guid, name, options);
}

async function waitUntilFresh(
  { api, pace }: PacedApi,
  appGuid: string,
  name: string,
  since: string,
  signal: AbortSignal,
): Promise<Running> {
  let last = '';
  const waiting = { signal, pace, what: `the start of ${name}`, limitMs: pace.startupMs };
  try {
    return await waitFor(waiting, async () => {
      const running = await runningSince(api, appGuid, msOf(since), signal);
      last = running.text;
      return allFresh(running) ? running : undefined;
    });
  } catch (thrown) {
    if (!hasCode(thrown, 'platform.failed')) throw thrown;
    throw failedError(`${thrown.shortMessage} (${last})`, '', { app: appGuid });
  }
}

/** As `cf` without deployments: stop, set the new droplet, start. Repeatable: each step only if needed. */
async function restartOn(
  paced: PacedApi,
  appGuid: string,
  droplet: string,
  what: string,
  { signal, mayLeave, tell }: AfterRestore,
): Promise<void> {
  const { api } = paced;
  const path = `/v3/apps/${encodeURIComponent(appGuid)}`;
  const state = async () => (await api.get(path, App, signal)).value.state;
  const current = async () =>
    (await getIfThere(api, `${path}/droplets/current`, Droplet, signal))?.value.guid;

  /** Sends one change; after a lost answer, the platform shows whether it was made. */
  const change = async (one: Omit<Change, keyof Leave>, isMade: () => Promise<boolean>) => {
    const sent = await api.send({ ...one, signal, mayLeave });
    await requireMade(paced, what, sent, signal, async () => ((await isMade()) ? true : undefined));
  };

  tell?.(`${what}: with a short stop, because the platform has no deployments`);
  if ((await current()) !== droplet) {
    if ((await state()) !== 'STOPPED') {
      await change(
        { method: 'POST', path: `${path}/actions/stop` },
        async () => (await state()) === 'STOPPED',
      );
    }
    const body = { data: { guid: droplet } };
    await change(
      { method: 'PATCH', path: `${path}/relationships/current_droplet`, body },
      async () => (await current()) === droplet,
    );
  }
  if ((await state()) !== 'STARTED') {
    await change(
      { method: 'POST', path: `${path}/actions/start` },
      async () => (await state()) === 'STARTED',
    );
  }
}

async function restartAsItIs(
  { api }: PacedApi,
  appGuid: string,
  what: string,
  { signal, mayLeave, tell }: AfterRestore,
): Promise<void> {
  tell?.(`${what}: with a short stop, because the platform has no deployments`);
  const path = `/v3/apps/${encodeURIComponent(appGuid)}/actions/restart`;
  const sent = await api.send({ method: 'POST', path, signal, mayLeave });
  // The start times of the instances show whether a lost one was made, and the caller waits for them anyway.
  if (sent.outcome === 'lost' && hasCode(sent.error, 'platform.stopped')) throw sent.error;
}

interface RolledOut {
  readonly deployment: Deployment;
  /** It was already over when found. */
  readonly before: boolean;
}

/** The newest deployment of this run since then. `unavailable`: this platform does not permit deployments. */
async function deploymentOf(
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
 * Rolls out a droplet instance by instance, by default the current one again. Adopts a deployment that this
 * run began. Returns undefined if the platform has no deployments, and rejects with `platform.failed` if it
 * was canceled, superseded, or made no progress for as long as the tool `cf` would wait.
 */
async function rollOut(
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
  const begun = adopted ? earlier : await deploy(paced, appGuid, droplet, what, options, since);
  if (begun === undefined) return undefined;
  const before = adopted && reasonOf(earlier) === 'DEPLOYED';
  return { deployment: before ? begun : await waitForDeployment(paced, begun.guid, what, options), before };
}

async function deploy(
  paced: PacedApi,
  appGuid: string,
  droplet: string | undefined,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<Deployment | undefined> {
  const { api } = paced;
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
  const words = { doing: `rolling out ${what}`, thing: `the deployment of ${what}` };
  return begunBy(paced, { ...words, schema: Deployment }, sent, signal, ours);
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
      throw failedError(`the deployment of ${what} has made no progress for ${minutes} minutes`, words, {
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

interface Staged {
  readonly build: string;
  readonly droplet: string;
}

/** The newest build that this run began for the application since then; failed ones are ignored. */
async function buildOf(
  { api }: PacedApi,
  appGuid: string,
  { runId, signal }: AfterRestore,
  since: string,
): Promise<Build | undefined> {
  const query = { app_guids: appGuid, label_selector: `${RUN_LABEL}=${runId}` };
  const builds = await listAll(api, '/v3/builds', query, Build, signal);
  return newestFirst(builds).find(
    (build) => isOf(runId, build) && isSince(build, since) && build.state !== 'FAILED',
  );
}

/**
 * Stages the newest package of an application, so that its droplet has the present credentials. Adopts a
 * build that this run began. Rejects with `platform.failed` and the message of the build.
 */
async function stage(
  paced: PacedApi,
  app: App,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<Staged> {
  const { api, pace } = paced;
  const { signal, tell } = options;
  const begun =
    (await buildOf(paced, app.guid, options, since)) ?? (await build(paced, app, what, options, since));
  tell?.(`${what}: staging`);
  const waiting = { signal, pace, what: `the staging for ${what}`, limitMs: pace.stagingMs };
  return waitFor(waiting, async () => {
    const path = `/v3/builds/${encodeURIComponent(begun.guid)}`;
    const build = (await getIfThere(api, path, Build, signal))?.value;
    if (build === undefined) throw failedError(`the build for ${what} is gone`, '', { build: begun.guid });
    if (build.state === 'FAILED') {
      throw failedError(`the staging for ${what} has failed`, build.error ?? '', { build: build.guid });
    }
    const droplet = build.state === 'STAGED' ? build.droplet?.guid : undefined;
    return droplet === undefined ? undefined : { build: build.guid, droplet };
  });
}

async function build(
  paced: PacedApi,
  app: App,
  what: string,
  options: AfterRestore,
  since: string,
): Promise<{ readonly guid: string }> {
  const { api } = paced;
  const { signal, mayLeave, runId } = options;
  const newest = await packageOf(api, app.guid, signal);
  if (newest === undefined) throw noPackage(app, what);
  const ours = () => buildOf(paced, app.guid, options, since);
  const sent = await api.send({
    method: 'POST',
    path: '/v3/builds',
    body: { package: { guid: newest.guid }, metadata: labelsOf(runId) },
    signal,
    mayLeave,
    made: ours,
  });
  const thing = `the staging for ${what}`;
  return begunBy(paced, { doing: thing, thing, schema: Build }, sent, signal, ours);
}
