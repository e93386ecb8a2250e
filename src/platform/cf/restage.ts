import * as z from 'zod';
import type { BoundApp, PlatformProof } from '../../../machines/parts/recovery-data.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import { boundSince, isSince } from '../capi/bindings.ts';
import { auditEvents, getIfReported, getIfThere, pathOf } from '../capi/capi.ts';
import { stoppedApp } from '../capi/proofs.ts';
import { allFresh, type Running, runningSince } from '../capi/prove.ts';
import { Deployment, Droplet } from '../capi/schemas.ts';
import type { AfterRestore } from '../platform.ts';
import { failedError, proof } from '../problem.ts';
import { waitFor } from '../wait.ts';
import { placeOfApp, type Session } from './session.ts';

/**
 * See `Platform.restage`. The tool puts no label on what it makes, so an earlier attempt is known by what it
 * has left: a droplet and instances that are younger than the binding, or a deployment that is under way.
 */
export async function restageByCf(
  session: Session,
  app: BoundApp,
  options: AfterRestore,
): Promise<PlatformProof> {
  const { capi, pace } = session;
  const { signal, mayLeave, notBefore, tell } = options;
  const name = show(app.name, 100);
  const { app: now, where } = await placeOfApp(session, app, signal);
  if (now.state === 'STOPPED') {
    return stoppedApp(name, now);
  }
  const docker = now.lifecycle?.type === 'docker';
  const since = await boundSince(capi, now.guid, options);
  const path = `/v3/apps/${encodeURIComponent(now.guid)}`;
  const droplet = async () => (await getIfThere(capi, `${path}/droplets/current`, Droplet, signal))?.value;
  const running = () => runningSince(capi, now.guid, msOf(since), signal);
  const isStaged = async () => docker || isSince((await droplet()) ?? {}, since);
  const proven = async (outcome: 'done' | 'already', state: Running) =>
    proof(outcome, `${name} is ${docker ? 'restarted' : 'restaged'}: ${state.text}`, state.startedAt, {
      app: now.guid,
      droplet: (await droplet())?.guid,
      instances: state.fresh,
      ...(await auditEvents(capi, [now.guid], notBefore, signal)),
    });

  await waitForDeployments(session, now.guid, since, name, signal);
  const before = await running();
  if (allFresh(before) && (await isStaged())) return proven('already', before);

  const what = `restaging ${name}`;
  tell?.(what);
  const command = {
    word: docker ? 'restart' : 'restage',
    names: [now.name],
    options: ['--strategy', 'rolling'],
  };
  await session.inSpace(where, what, command, {
    signal,
    mayLeave,
    timeoutMs: pace.stagingMs + 4 * pace.startupMs,
  });
  const after = await waitFor({ signal, pace, what, limitMs: pace.startupMs }, async () => {
    const state = await running();
    return allFresh(state) ? state : undefined;
  });
  if (!(await isStaged()))
    throw failedError(`${what} has left the old droplet in place`, '', { app: now.guid });
  return proven('done', after);
}

/** An earlier attempt's deployment is waited for: another one would only push it aside. */
async function waitForDeployments(
  { capi, pace }: Session,
  appGuid: string,
  since: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf('/v3/deployments', { app_guids: appGuid, status_values: 'ACTIVE' });
  const List = z.object({ resources: z.array(Deployment) });
  const waiting = { signal, pace, what: `the deployment of ${name}`, limitMs: 4 * pace.startupMs };
  await waitFor(waiting, async () => {
    const reported = await getIfReported(capi, path, List, signal);
    const active = reported?.resources.some((one) => one.status.value === 'ACTIVE' && isSince(one, since));
    return active === true ? undefined : true;
  });
}
