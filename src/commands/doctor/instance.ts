import { TooSlow, within } from '../../base/patience.ts';
import { show } from '../../base/text.ts';
import { expiryOf, newerRevisionWords, type OpenInstance, openInstance } from '../../compose/service-of.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { addressFrom } from '../../service/address.ts';
import type { Answer, Skew } from '../../service/client.ts';
import type { Revision } from '../../service/revisions.ts';
import { unreadWords } from '../../service/rows.ts';
import type { Backup } from '../../service/schemas.ts';
import { runnableOn } from '../run/assert-supported.ts';
import { attempt, type Check, good } from './check.ts';

/** Milliseconds for all answers of one instance. */
export const INSTANCE_MS = 20_000;

/** The findings about an instance; `backups` if they could be listed. */
export interface Looked {
  readonly checks: Check[];
  readonly revision?: Revision;
  readonly backups?: Answer<readonly Backup[]>;
}

/**
 * Whether an instance answers, accepts its token and lists its backups; and its revision, which `revision:
 * auto` detects. Sends only GETs, and takes at most `limitMs`.
 */
export async function lookAtInstance(
  config: LoadedConfig,
  name: string,
  store: KeyStore | undefined,
  limitMs: number = INSTANCE_MS,
): Promise<Looked> {
  const address = plainHttp(config, name);
  try {
    const seen = await within(limitMs, () => looked(config, name, store));
    return { ...seen, checks: [...address, ...seen.checks] };
  } catch (thrown) {
    if (!(thrown instanceof TooSlow)) throw thrown;
    const hints = [
      'check the network path: try its url with curl from here',
      'what else it is asked for was not checked',
    ];
    return { checks: [...address, { what: name, state: 'bad', found: thrown.message, hints }] };
  }
}

async function looked(config: LoadedConfig, name: string, store: KeyStore | undefined): Promise<Looked> {
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
  const newer = config.newerRevisions?.[name];
  if (newer !== undefined)
    found.push({ what: `${name}: revision`, state: 'warn', found: newerRevisionWords(newer), hints: [] });
  return { ...(await instanceChecks(name, opened.value, found)), revision };
}

/** Warns of an address without TLS, unless it is on this machine. */
function plainHttp(config: LoadedConfig, name: string): Check[] {
  const { insecure, origin } = addressFrom(config.instances[name]?.url ?? '');
  if (!insecure) return [];
  const found = `${show(origin, 120)} is plain http: token and keys travel in the clear`;
  return [
    { what: `${name}: address`, state: 'warn', found, hints: ['use the https address of the service'] },
  ];
}

async function instanceChecks(
  name: string,
  instance: OpenInstance,
  found: readonly Check[],
): Promise<Looked> {
  try {
    const token = await attempt(`${name}: token`, () => instance.token());
    if ('check' in token) return { checks: [token.check] };
    const expires = expiryOf(token.value);
    const tokenCheck = good(
      `${name}: token`,
      expires === undefined ? 'there is one' : `there is one, until ${expires}`,
    );
    if (!instance.service.supports('overview')) {
      const old = await oldInterface(name, instance);
      return { ...old, checks: [tokenCheck, ...found, ...old.checks] };
    }
    const overview = await attempt(`${name}: service`, () => instance.service.overview());
    if ('check' in overview) return { checks: [tokenCheck, overview.check] };
    const { name: title, state } = overview.value.value;
    const service = good(
      `${name}: service`,
      `"${show(title ?? 'no name', 60)}" is ${show(state ?? 'in an unknown state', 40)}`,
    );
    const list = await attempt(`${name}: backups`, () => instance.service.backups());
    if ('check' in list) return { checks: [tokenCheck, service, list.check] };
    const backups = backupList(name, list.value);
    return {
      checks: [tokenCheck, ...found, service, backups, clock(name, overview.value.skew)],
      backups: list.value,
    };
  } finally {
    await instance.service.close();
  }
}

/** Unreadable rows do not make the check bad, but hide their backups. */
function backupList(name: string, { value, unread }: Answer<readonly Backup[]>): Check {
  const what = `${name}: backups`;
  const words = unreadWords('backup', unread);
  if (words.length === 0) return good(what, `the list can be read: ${value.length}`);
  return { what, state: 'warn', found: `${value.length} can be read, ${words.length} cannot`, hints: words };
}

/** V0 can only list backups. */
async function oldInterface(name: string, instance: OpenInstance): Promise<Looked> {
  const { service } = instance;
  const list = await attempt(`${name}: backups`, () => service.backups());
  if ('check' in list) return { checks: [list.check] };
  const check: Check = {
    what: `${name}: backups`,
    state: 'warn',
    found: `the list can be read: ${list.value.value.length}; V0 says nothing about the instance itself`,
    hints: [
      ...unreadWords('backup', list.value.unread),
      ...(service.limits === undefined ? [] : [service.limits.deprecation]),
      `what can be run on ${name}: ${runnableOn(instance).join(', ')}`,
    ],
  };
  return { checks: [check], backups: list.value };
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
