import { failureOf } from '../../base/errors.ts';
import { TooSlow, within } from '../../base/patience.ts';
import { show } from '../../base/text.ts';
import { expiryOf, newerRevisionWords, type OpenInstance, openInstance } from '../../compose/service-of.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { addressFrom } from '../../service/address.ts';
import type { Answer, Skew } from '../../service/client.ts';
import { proxyFor, unreadNetworks } from '../../service/proxies.ts';
import type { Revision } from '../../service/revisions.ts';
import { unreadWords } from '../../service/rows.ts';
import type { Backup } from '../../service/schemas.ts';
import { askedForUncheckedTls, UNCHECKED_TLS } from '../../service/tls.ts';
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

/** Whether it answers, accepts its token, lists backups; also its revision. Only GETs, within `limitMs`. */
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

const PROXY = 'proxy';

/**
 * The proxy by which each instance, and the platform, is reached; empty if the environment names none. The
 * checks of the instances show how the proxy answers. Only reads.
 */
export function proxyChecks({ instances, platform }: LoadedConfig): Check[] {
  const origins = Object.entries(instances).map(
    ([name, { url }]) => [name, addressFrom(url).origin] as const,
  );
  if (typeof platform !== 'string') origins.push(['platform', platform.api]);
  const by = new Map<string, string[]>();
  const unusable: Check[] = [];
  for (const [name, origin] of origins) {
    const found = wayTo(origin);
    if (typeof found === 'string') by.set(found, [...(by.get(found) ?? []), name]);
    else unusable.push({ what: `${name}: ${PROXY}`, state: 'bad', ...found });
  }
  const isNone = [...by.keys()].every((way) => way === DIRECT);
  const ways = isNone && unusable.length === 0 ? [] : [...by];
  const unread = unreadNetworks();
  return [
    ...unusable,
    ...ways.map(([way, names]) => good(PROXY, `${way}: ${names.map((name) => show(name, 80)).join(', ')}`)),
    ...(unread.length === 0
      ? []
      : [
          {
            what: PROXY,
            state: 'warn' as const,
            found: `NO_PROXY has what is no network, and covers nothing: ${show(unread.join(', '), 200)}`,
            hints: ['a network is written as 192.0.2.0/24'],
          },
        ]),
  ];
}

const DIRECT = 'none';

function wayTo(origin: string): string | Pick<Check, 'found' | 'hints'> {
  try {
    const proxy = proxyFor(origin);
    return proxy === undefined ? DIRECT : `${show(proxy.shown, 200)} (${proxy.variable})`;
  } catch (thrown) {
    const { shortMessage, hints } = failureOf(thrown);
    return { found: shortMessage, hints };
  }
}

const TLS = 'tls';

/** By the environment, of this process and the programs that it starts. Only reads. */
export function tlsChecks(env: NodeJS.ProcessEnv, execArgv: readonly string[] = process.execArgv): Check[] {
  const flags = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/u), ...execArgv];
  const found = [unchecked(), ...authorities(env, flags), ...keyLogs(env, flags)].filter(
    (check) => check !== undefined,
  );
  if (found.length > 0) return found;
  return [good(TLS, 'certificates are checked, against the authorities that come with Node')];
}

function unchecked(): Check | undefined {
  if (!askedForUncheckedTls) return undefined;
  return {
    what: TLS,
    state: 'bad',
    found: `${UNCHECKED_TLS}=0 is set; lifeboat does not obey it and checks every certificate`,
    hints: [
      `unset ${UNCHECKED_TLS}: other programs obey it, and send tokens to whoever answers`,
      'to trust an authority of your company, name its file as `ca` of the instance',
    ],
  };
}

/** An extra authority lets the holder of its key read every token. */
function authorities(env: NodeJS.ProcessEnv, flags: readonly string[]): Check[] {
  const file = env['NODE_EXTRA_CA_CERTS'];
  const openssl = flags.includes('--use-openssl-ca');
  const system = flags.includes('--use-system-ca') || env['NODE_USE_SYSTEM_CA'] === '1';
  const places = ['SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) =>
    env[name] ? [`${name}=${show(env[name], 200)}`] : [],
  );
  return [
    ...(file ? [warning(`NODE_EXTRA_CA_CERTS: the authorities in ${show(file, 200)} are trusted too`)] : []),
    ...(openssl
      ? [warning(['--use-openssl-ca: the authorities of OpenSSL are trusted', ...places].join(', '))]
      : []),
    ...(system ? [warning('the authorities of the system are trusted too (--use-system-ca)')] : []),
  ];
}

/** With the logged connection keys, recorded traffic can be decrypted. */
function keyLogs(env: NodeJS.ProcessEnv, flags: readonly string[]): Check[] {
  const file = env['SSLKEYLOGFILE'];
  const isLogged = flags.some((flag) => /^--tls-keylog(?:=|$)/u.test(flag));
  return [
    ...(isLogged
      ? [
          {
            what: TLS,
            state: 'bad' as const,
            found: '--tls-keylog is set: Node writes the keys of every connection to a file',
            hints: ['unset it (NODE_OPTIONS), and remove the file: tokens can be read with it'],
          },
        ]
      : []),
    ...(file
      ? [
          warning(
            `SSLKEYLOGFILE=${show(file, 200)}: ` +
              'curl and others write the keys of their connections there; lifeboat does not',
          ),
        ]
      : []),
  ];
}

function warning(found: string): Check {
  return { what: TLS, state: 'warn', found, hints: [] };
}
