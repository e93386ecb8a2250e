import { EXIT, LifeboatError } from '../../base/errors.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import type { LoadedConfig, NotifyConfig } from '../../config/loaded.ts';
import type { Sent } from '../../notify/send.ts';

/** The targets of the config, or the one of this name. Throws a usage error where there is none. */
export function targetsOf({ notify, path }: LoadedConfig, name?: string): readonly NotifyConfig[] {
  const found = notify.filter((target) => name === undefined || target.name === name);
  if (found.length > 0) return found;
  const names = notify.map((target) => target.name);
  const what = names.length === 0 || name === undefined ? 'nobody to notify' : `no target ${show(name, 80)}`;
  throw new LifeboatError('notify.none', `there is ${what} in ${show(path)}`, {
    hints:
      names.length === 0
        ? ['name somebody: notify: [{ name: on-call, url: https://hooks.example.com/lifeboat }]']
        : [...mostSimilar(name ?? '', names), `it has: ${names.join(', ')}`],
    exitCode: EXIT.usage,
  });
}

/** What became of an attempt, in a few words. */
export function sentWords({ outcome, status, why }: Pick<Sent, 'outcome' | 'status' | 'why'>): string {
  const detail = why ?? (status === undefined ? '' : `status ${status}`);
  return detail === '' ? outcome : `${outcome}: ${show(detail, 80)}`;
}
