import type { BoundApp } from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { type Capi, listAll } from './capi.ts';
import { placesOf } from './find-bindings.ts';
import { App } from './schemas.ts';

/**
 * The application as it is now: by its guid, else by its name, and by space and org as far as they are known.
 * Rejects with `platform.not-found` when there is none, and when there are several that could be meant.
 */
export async function findApp(capi: Capi, app: BoundApp, signal: AbortSignal): Promise<App> {
  if (app.guid !== undefined) {
    return (await capi.get(`/v3/apps/${encodeURIComponent(app.guid)}`, App, signal)).value;
  }
  // A comma would make two names of it.
  const named = (await listAll(capi, '/v3/apps', { names: app.name }, App, signal)).filter(
    ({ name }) => name === app.name,
  );
  const guids = named.flatMap((found) => found.relationships?.space?.data?.guid ?? []);
  const places = await placesOf(capi, guids, signal);
  const fitting = named.filter((found) => {
    const place = places.get(found.relationships?.space?.data?.guid ?? '');
    return (
      (app.space === undefined || place?.space === app.space) &&
      (app.org === undefined || place?.org === app.org)
    );
  });
  const [only, second] = fitting;
  if (only !== undefined && second === undefined) return only;
  const where = [app.org, app.space].filter((part) => part !== undefined).join('/');
  const place = where === '' ? '' : ` in ${show(where, 120)}`;
  throw new LifeboatError(
    'platform.not-found',
    only === undefined
      ? `the platform shows no application ${show(app.name, 100)}${place}`
      : `the platform shows ${fitting.length} applications ${show(app.name, 100)}${place}`,
    { hints: ['name its space and org in `apps` of the config', 'check that the token sees its space'] },
  );
}
