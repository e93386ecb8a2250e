import { show } from '../../base/text.ts';
import { type OpenInstance, openInstance } from '../../compose/service-of.ts';
import { expiryOf } from '../../compose/token-expiry.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import type { Skew } from '../../service/client.ts';
import type { Revision } from '../../service/revisions.ts';
import { runnableOn } from '../run/refuse-unsupported.ts';
import { attempt, type Check, good } from './check.ts';

/**
 * Whether an instance answers, its token is taken and its backups can be listed; and its revision, which
 * `revision: auto` finds out. Sends only GETs.
 */
export async function lookAtInstance(
  config: LoadedConfig,
  name: string,
  store: KeyStore | undefined,
): Promise<{ readonly checks: Check[]; readonly revision?: Revision }> {
  const found: Check[] = [];
  const opened = await attempt(name, () =>
    openInstance(config, name, {
      found: (line) => found.push(good(`${name}: revision`, line)),
      store: async () => {
        if (store === undefined) throw new Error('the key store is not usable');
        return store;
      },
    }),
  );
  if ('check' in opened) return { checks: [opened.check] };
  const { revision } = opened.value;
  return { checks: await instanceChecks(name, opened.value, found), revision };
}

async function instanceChecks(
  name: string,
  instance: OpenInstance,
  found: readonly Check[],
): Promise<Check[]> {
  try {
    const token = await attempt(`${name}: token`, () => instance.token());
    if ('check' in token) return [token.check];
    const expires = expiryOf(token.value);
    const tokenCheck = good(
      `${name}: token`,
      expires === undefined ? 'there is one' : `there is one, until ${expires}`,
    );
    if (!instance.service.supports('overview'))
      return [tokenCheck, ...found, await oldInterface(name, instance)];
    const overview = await attempt(`${name}: service`, () => instance.service.overview());
    if ('check' in overview) return [tokenCheck, overview.check];
    const { name: title, state } = overview.value.value;
    const service = good(
      `${name}: service`,
      `"${show(title ?? 'no name', 60)}" is ${show(state ?? 'in an unknown state', 40)}`,
    );
    const list = await attempt(`${name}: backups`, () => instance.service.backups());
    if ('check' in list) return [tokenCheck, service, list.check];
    const backups = good(`${name}: backups`, `the list can be read: ${list.value.value.length}`);
    return [tokenCheck, ...found, service, backups, clock(name, overview.value.skew)];
  } finally {
    await instance.service.close();
  }
}

/** V0 has only its listing. */
async function oldInterface(name: string, instance: OpenInstance): Promise<Check> {
  const { service } = instance;
  const list = await attempt(`${name}: backups`, () => service.backups());
  if ('check' in list) return list.check;
  return {
    what: `${name}: backups`,
    state: 'warn',
    found: `the list can be read: ${list.value.value.length}; V0 says nothing about the instance itself`,
    hints: [
      ...(service.limits === undefined ? [] : [service.limits.deprecation]),
      `what can be run on ${name}: ${runnableOn(instance).join(', ')}`,
    ],
  };
}

function clock(name: string, measured: Skew | undefined): Check {
  const what = `${name}: clock`;
  if (measured === undefined)
    return { what, state: 'warn', found: 'the service sends no Date header', hints: [] };
  const skew = Math.round(measured.skewMs / 1000);
  const text = Math.abs(skew) <= 2 ? 'agrees with the service' : `the service is ${skew} s ahead`;
  if (Math.abs(skew) <= 60) return good(what, text);
  return { what, state: 'warn', found: text, hints: ['times in the evidence will differ: set this clock'] };
}
