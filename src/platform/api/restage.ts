import type { BoundApp, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { Leave } from '../../service/call.ts';
import { boundSince } from '../capi/bindings.ts';
import { auditEvents, getIfThere } from '../capi/capi.ts';
import { findApp } from '../capi/find-bindings.ts';
import { stoppedApp } from '../capi/proofs.ts';
import { allFresh, type Running, runningSince } from '../capi/prove.ts';
import { App, Droplet } from '../capi/schemas.ts';
import type { AfterRestore } from '../platform.ts';
import { failedError, hasCode, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import type { Change } from './connection.ts';
import { type PacedApi, requireMade } from './paced-api.ts';
import { buildOf, deploymentOf, rollOut, type Staged, stage } from './roll-out.ts';

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

/**
 * What the tool `cf` does without deployments: stop, set the new droplet, start. Repeatable, since each step
 * is taken only if it is still needed: an application that already runs on the droplet is left alone.
 */
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

/** Restarts an application that has nothing to stage, in one call. */
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
