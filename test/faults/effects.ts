import { routeOf } from './seen.ts';
import type { Site } from './site.ts';

/** How often each thing was done that must not be done twice, by those who do it. */
export function effectsOn({ server, capi, names }: Site): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  const add = (what: string) => effects.set(what, (effects.get(what) ?? 0) + 1);
  for (const { method, path, did } of server.calls) {
    const isRepeatable = /\/(?:backups-config|broker\/edit|prepare|download)$/u.test(path);
    if (method !== 'GET' && did && !isRepeatable) add(routeOf('service', method, path, names));
  }
  for (const { method, path, answered } of capi?.wishes ?? []) {
    const isOnce = /credential_bindings|\/v3\/(?:builds|deployments)$/u.test(path) && method !== 'PATCH';
    if (isOnce && answered !== undefined && Number(answered) < 300)
      add(routeOf('platform', method, path, names));
  }
  return effects;
}
