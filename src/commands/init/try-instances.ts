import { show } from '../../base/text.ts';
import { parseConfig } from '../../config/load.ts';
import { type StarterInstance, starterConfig } from '../../config/starter.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { addressFrom } from '../../service/address.ts';
import type { Check } from '../doctor/check.ts';

/** The instances as the config says them, and what each of them answered. */
export interface Tried {
  readonly instances: readonly StarterInstance[];
  readonly checks: readonly Check[];
}

/**
 * Tries each instance as the config at `path` is going to say it, by GETs. A revision `auto` becomes the one
 * that was found out; where nobody answers it stays. Rejects with `config.invalid` for what cannot stand in a
 * config.
 */
export async function tryInstances(
  path: string,
  wanted: readonly StarterInstance[],
  store: KeyStore | undefined,
  keepsAuto: boolean,
): Promise<Tried> {
  const config = parseConfig(starterConfig({ instances: wanted }), path);
  const { lookAtInstance } = await import('../doctor/instance.ts');
  const tried = await Promise.all(
    wanted.map(async (instance) => {
      const { checks, revision = instance.revision } = await lookAtInstance(config, instance.name, store);
      const isKnown = !keepsAuto && checks.every(({ state }) => state !== 'bad');
      const seen = { ...instance, revision: isKnown ? revision : instance.revision };
      return { instance: seen, checks: [...unsafe(instance), ...checks] };
    }),
  );
  return {
    instances: tried.map(({ instance }) => instance),
    checks: tried.flatMap(({ checks }) => checks),
  };
}

function unsafe({ name, url }: StarterInstance): Check[] {
  const { insecure, origin } = addressFrom(url);
  if (!insecure) return [];
  const found = `${show(origin, 120)} is plain http: token and keys travel in the clear`;
  return [
    { what: `${name}: address`, state: 'warn', found, hints: ['use the https address of the service'] },
  ];
}
