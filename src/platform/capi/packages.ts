import type { BoundApp } from '../../../machines/parts/recovery-data.ts';
import { show } from '../../base/text.ts';
import { failedError } from '../problem.ts';
import { newestFirst } from './bindings.ts';
import { type Capi, listAll } from './capi.ts';
import { findApp } from './find-bindings.ts';
import { type App, Package } from './schemas.ts';

/** The newest package of an application that can be staged; undefined if all have expired. */
export async function packageOf(
  capi: Capi,
  appGuid: string,
  signal: AbortSignal,
): Promise<Package | undefined> {
  const query = { app_guids: appGuid, states: 'READY', order_by: '-created_at' };
  const packages = await listAll(capi, '/v3/packages', query, Package, signal);
  return newestFirst(packages.filter(({ state }) => state === 'READY'))[0];
}

/**
 * Rejects with `platform.failed` if a running application could not be staged again. Called before its
 * binding is removed, since without both it would be down.
 */
export async function requirePackage(capi: Capi, bound: BoundApp, signal: AbortSignal): Promise<void> {
  const app = await findApp(capi, bound, signal);
  if (app.state === 'STOPPED' || app.lifecycle?.type === 'docker') return;
  if ((await packageOf(capi, app.guid, signal)) !== undefined) return;
  throw noPackage(app, show(bound.name, 100), [
    'nothing was unbound: it runs on with the credentials that it has',
  ]);
}

export function noPackage({ guid }: Pick<App, 'guid'>, name: string, hints: readonly string[] = []) {
  const what = `there is no package to stage for ${name}: it has expired, or was never uploaded`;
  return failedError(what, '', { app: guid }, [...hints, `push it again, then go on: cf push ${name}`]);
}
