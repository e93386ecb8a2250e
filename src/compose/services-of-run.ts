import { plainAddress } from '../base/redact.ts';
import type { Config } from '../config/schema.ts';

/**
 * Where the instances of a run are, and with which revision they are spoken to, for its first entry. Nothing
 * secret stands in it.
 */
export function servicesOfRun(
  { instances }: Pick<Config, 'instances'>,
  { instance, target }: { readonly instance: string; readonly target?: string | undefined },
): { readonly instance: string; readonly url: string; readonly revision: string }[] {
  return [...new Set([instance, target ?? instance])].flatMap((name) => {
    const config = Object.hasOwn(instances, name) ? instances[name] : undefined;
    if (config === undefined) return [];
    return [{ instance: name, url: plainAddress(config.url) ?? '', revision: String(config.revision) }];
  });
}
