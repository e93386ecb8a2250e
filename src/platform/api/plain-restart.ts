import type { Leave } from '../../service/call.ts';
import { getIfThere } from '../capi/capi.ts';
import { App, Droplet } from '../capi/schemas.ts';
import { hasCode, lostAnswer } from '../problem.ts';
import { lookFor } from '../wait.ts';
import type { Change } from './connection.ts';
import type { AfterRestore, PacedApi } from './paced-api.ts';

/**
 * What the tool `cf` does where there are no deployments: stop, take the new droplet, start. Safe to repeat,
 * since each step is taken only while it is still needed: an application that runs on the droplet already is
 * left alone.
 */
export async function restartOn(
  paced: PacedApi,
  appGuid: string,
  droplet: string,
  what: string,
  { signal, mayLeave, tell }: AfterRestore,
): Promise<void> {
  const { api, pace } = paced;
  const path = `/v3/apps/${encodeURIComponent(appGuid)}`;
  const state = async () => (await api.get(path, App, signal)).value.state;
  const current = async () =>
    (await getIfThere(api, `${path}/droplets/current`, Droplet, signal))?.value.guid;

  /** Sends one change; after a lost answer the platform itself tells whether it was made. */
  const change = async (one: Omit<Change, keyof Leave>, isMade: () => Promise<boolean>) => {
    const sent = await api.send({ ...one, signal, mayLeave });
    if (sent.outcome === 'accepted') return;
    if (hasCode(sent.error, 'platform.stopped')) throw sent.error;
    const made = await lookFor(pace, signal, async () => ((await isMade()) ? true : undefined));
    if (made === undefined) throw lostAnswer(what, sent.error);
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
export async function restartAsItIs(
  { api }: PacedApi,
  appGuid: string,
  what: string,
  { signal, mayLeave, tell }: AfterRestore,
): Promise<void> {
  tell?.(`${what}: with a short stop, because the platform has no deployments`);
  const path = `/v3/apps/${encodeURIComponent(appGuid)}/actions/restart`;
  const sent = await api.send({ method: 'POST', path, signal, mayLeave });
  // Whether a lost one was made shows in the start times of the instances, which the caller waits for anyway.
  if (sent.outcome === 'lost' && hasCode(sent.error, 'platform.stopped')) throw sent.error;
}
