import type { Config } from '../config/schema.ts';

/** Where the instances of a run are, and with which revision they are spoken to, for its first entry. Nothing secret stands in it. */
export function servicesOfRun(
  { instances }: Pick<Config, 'instances'>,
  { instance, target }: { readonly instance: string; readonly target?: string | undefined },
): { readonly instance: string; readonly url: string; readonly revision: string }[] {
  return [...new Set([instance, target ?? instance])].flatMap((name) => {
    const config = Object.hasOwn(instances, name) ? instances[name] : undefined;
    if (config === undefined) return [];
    return [{ instance: name, url: addressOf(config.url), revision: String(config.revision) }];
  });
}

/** Without what may be a password or a session. */
function addressOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? '' : `${parsed.origin}${parsed.pathname}`;
}
