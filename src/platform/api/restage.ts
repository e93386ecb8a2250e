import type { BoundApp, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { auditEvents } from '../capi/audit.ts';
import { boundSince } from '../capi/bindings.ts';
import { findApp } from '../capi/find-app.ts';
import { allFresh, type Running, runningSince } from '../capi/running.ts';
import type { App } from '../capi/schemas.ts';
import { failedError, hasCode } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { restartAsItIs, restartOn } from './plain-restart.ts';
import { deploymentOf, rollOut } from './roll-out.ts';
import { type AfterRestore, proof, type Site } from './site.ts';
import { buildOf, type Staged, stage } from './stage.ts';

/**
 * See `Platform.restage`. Build and deployment carry the run's label; what an earlier attempt has begun is
 * gone on with.
 */
export async function restage(site: Site, app: BoundApp, options: AfterRestore): Promise<PlatformProof> {
  const { api } = site;
  const { signal, notBefore, tell } = options;
  const name = show(app.name, 100);
  const found = await findApp(api, app, signal);
  const since = await boundSince(api, found.guid, options);
  if (found.state === 'STOPPED' && !(await stoppedByUs(site, found, options, since))) {
    const text = `${name} is stopped: it gets its new credentials when it is restaged and started`;
    return proof('not-needed', text, undefined, { app: found.guid });
  }
  const staged =
    found.lifecycle?.type === 'docker' ? undefined : await stage(site, found, name, options, since);
  const rolled = await rollOut(site, found.guid, staged?.droplet, name, options, since);
  if (rolled === undefined) await restartPlainly(site, found, staged, name, options, since);
  tell?.(`${name}: starting`);
  const running = await waitUntilFresh(site, found.guid, name, since, signal);
  return proof(
    rolled?.before === true ? 'already' : 'done',
    `${name} is ${staged === undefined ? 'started anew' : 'restaged'}: ${running.text}`,
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

/**
 * A stop in the middle of an earlier attempt: its build is there, and no deployment that would have left it
 * running.
 */
async function stoppedByUs(site: Site, app: App, options: AfterRestore, since: string): Promise<boolean> {
  if ((await buildOf(site, app.guid, options, since)) === undefined) return false;
  const deployment = await deploymentOf(site, app.guid, options, since);
  return deployment === undefined || deployment === 'unavailable';
}

async function restartPlainly(
  site: Site,
  app: App,
  staged: Staged | undefined,
  name: string,
  options: AfterRestore,
  since: string,
): Promise<void> {
  if (staged !== undefined) return restartOn(site, app.guid, staged.droplet, name, options);
  const running = await runningSince(site.api, app.guid, Date.parse(since), options.signal);
  if (running.fresh < running.wanted) await restartAsItIs(site, app.guid, name, options);
}

async function waitUntilFresh(
  { api, pace }: Site,
  appGuid: string,
  name: string,
  since: string,
  signal: AbortSignal,
): Promise<Running> {
  let last = '';
  const waiting = { signal, pace, what: `the start of ${name}`, limitMs: pace.startupMs };
  try {
    return await waitFor(waiting, async () => {
      const running = await runningSince(api, appGuid, Date.parse(since), signal);
      last = running.text;
      return allFresh(running) ? running : undefined;
    });
  } catch (thrown) {
    if (!hasCode(thrown, 'platform.failed')) throw thrown;
    throw failedError(`${thrown.shortMessage} (${last})`, '', { app: appGuid });
  }
}
