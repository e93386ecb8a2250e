import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { ipVersion } from '../../base/ip-network.ts';
import { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import { homeIfAny, loginIfAny } from '../../base/user.ts';

/** A name, an IP address, or the folder of a socket (begins with a slash). */
export interface Server {
  readonly host: string;
  readonly port: number;
  /** `hostaddr`; certificate and password are those of `host`. */
  readonly address?: string;
}

/** Contains no secret. */
export interface Address {
  /** In the order of trial. */
  readonly servers: readonly Server[];
  readonly user: string;
  readonly database: string;
  /** For one server before the next is tried. Milliseconds. */
  readonly connectTimeout: number;
  readonly sslmode: SslMode;
  readonly channelBinding: ChannelBinding;
  /** Session settings, in the syntax of `postgres -c`. */
  readonly options?: string;
  readonly passfile?: string;
  /** Paths. */
  readonly files: { readonly [name in keyof typeof FILES]?: string };
}

export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const;
export type ChannelBinding = (typeof CHANNEL_BINDINGS)[number];

const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^/?#]*))?(?:\?(?<query>[^#]*))?$/iu;
const SECRETS = ['password', 'sslpassword', 'sslkeypassword'];
const PORT = 5432;
const CONNECT_SECONDS = 5;

/** Setting, environment variable, and name in ~/.postgresql. */
const FILES = {
  rootcert: ['sslrootcert', 'PGSSLROOTCERT', 'root.crt'],
  crl: ['sslcrl', 'PGSSLCRL', 'root.crl'],
  cert: ['sslcert', 'PGSSLCERT', 'postgresql.crt'],
  key: ['sslkey', 'PGSSLKEY', 'postgresql.key'],
} as const;

/**
 * Reads a store's address in the syntax of libpq ("Connection URIs"):
 * `postgres://USER@HOST:PORT,HOST:PORT/DATABASE?sslmode=…`. Omitted parts come from libpq's variables
 * (PGUSER, PGDATABASE, PGPORT, PGSSLMODE, …) and, for certificates, from ~/.postgresql. Throws `config.store`
 * (exit 2) for what libpq accepts and this does not, and never repeats an address with a password.
 */
export function parseAddress(url: string, env: NodeJS.ProcessEnv): Address {
  const { user, hosts = '', database, query } = FORM.exec(url)?.groups ?? {};
  if (!FORM.test(url)) throw wrong('it does not look like postgres://USER@HOST:PORT/DATABASE');
  if (user?.includes(':') === true) throw holdsPassword();
  const settings = settingsOf(query ?? '');
  assertNoVariables(env);
  const timeout = Number(settings.get('connect_timeout') ?? env['PGCONNECT_TIMEOUT'] ?? CONNECT_SECONDS);
  const servers = serversOf(hosts, settings, env);
  const name = decoded(user ?? '') || settings.get('user') || env['PGUSER'] || loginIfAny();
  if (name === undefined) throw wrong('it names no user, and this user id has no name: USER@HOST');
  const isNear = servers.every(({ host, address }) => isLocal(address ?? host));
  const binding = settings.get('channel_binding') ?? env['PGCHANNELBINDING'];
  return {
    servers,
    user: name,
    database: decoded(database ?? '') || settings.get('dbname') || env['PGDATABASE'] || name,
    connectTimeout: Math.max(1, Number.isFinite(timeout) ? timeout : CONNECT_SECONDS) * 1_000,
    sslmode: oneOf('sslmode', SSL_MODES, settings.get('sslmode') ?? env['PGSSLMODE'], usualMode(isNear)),
    channelBinding: oneOf('channel_binding', CHANNEL_BINDINGS, binding, 'prefer'),
    ...given('options', settings.get('options') ?? env['PGOPTIONS']),
    ...given('passfile', settings.get('passfile') ?? env['PGPASSFILE']),
    files: filesOf(settings, env),
  };
}

/** For messages. */
export function named({ host, port, address }: Server): string {
  const at = address === undefined || address === host ? '' : ` (${show(address, 60)})`;
  return host.startsWith('/') ? `${show(host, 120)}${at}` : `${show(host, 120)}:${port}${at}`;
}

function settingsOf(query: string): ReadonlyMap<string, string> {
  // In a libpq address a plus means a plus.
  const settings = new Map(new URLSearchParams(query.replaceAll('+', '%2B')));
  for (const name of settings.keys()) {
    if (SECRETS.includes(name.toLowerCase())) throw holdsPassword();
    if (UNREAD.has(name)) throw wrong(`${name} is a setting of libpq that lifeboat does not read`);
    if (!SETTINGS.has(name)) throw wrong(`it has an unknown setting: ${show(name, 60)}`);
  }
  const attributes = settings.get('target_session_attrs');
  if (attributes !== undefined && !['any', 'primary', 'read-write'].includes(attributes))
    throw wrong(
      'target_session_attrs can be read-write only: a standby may lag behind what was acknowledged',
    );
  return settings;
}

const SETTINGS: ReadonlySet<string> = new Set([
  'host',
  'hostaddr',
  'port',
  'user',
  'dbname',
  'connect_timeout',
  'sslmode',
  'channel_binding',
  'options',
  'passfile',
  'target_session_attrs',
  'application_name',
  ...Object.values(FILES).map(([setting]) => setting),
]);

/** Settings of libpq that change where or how to connect, and are not supported. */
const UNREAD: ReadonlySet<string> = new Set([
  'service',
  'servicefile',
  'require_auth',
  'load_balance_hosts',
  'requiressl',
  'requirepeer',
  'sslcrldir',
  'sslcertmode',
  'sslnegotiation',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
  'gssencmode',
  'krbsrvname',
  'replication',
]);

/** In libpq these variables change where to connect, or what to trust of a server. */
function assertNoVariables(env: NodeJS.ProcessEnv): void {
  const unread = ['PGSERVICE', 'PGREQUIREAUTH', 'PGREQUIREPEER', 'PGSSLCRLDIR'].find((name) => env[name]);
  if (unread === undefined) return;
  throw wrong(`the variable ${unread} is set, which lifeboat does not read`, [
    `write what it stands for into the address, and run lifeboat without it: env -u ${unread} lifeboat …`,
  ]);
}

function serversOf(
  hosts: string,
  settings: ReadonlyMap<string, string>,
  env: NodeJS.ProcessEnv,
): readonly Server[] {
  const addresses = (settings.get('hostaddr') || env['PGHOSTADDR'] || undefined)?.split(',');
  const places = placesOf(hosts, settings.get('host') || (hosts === '' ? addresses?.join(',') : undefined));
  const shared = settings.get('port') ?? (places.some(({ own }) => own) ? undefined : env['PGPORT']);
  const ports = shared?.split(',');
  if (ports !== undefined && ports.length !== 1 && ports.length !== places.length)
    throw wrong('it has to have one port, or as many ports as hosts');
  if (addresses !== undefined && addresses.length !== places.length)
    throw wrong('it has to have as many hostaddr as hosts');
  const servers = places.map(({ host, own }, index) => {
    const address = addresses?.[index] ?? '';
    if (address !== '' && ipVersion(address) === 0) throw wrong('hostaddr is an IP address, or several');
    const port = Number((ports === undefined ? own : (ports[index] ?? ports[0])) || PORT);
    return { host, port, ...given('address', address) };
  });
  if (servers.every(({ host, port }) => host !== '' && port > 0 && port < 65_536)) return servers;
  throw wrong('it names no server, or one without a name or with an impossible port');
}

/** With ports still as text; hosts of `list` (the setting `host`) have none. */
function placesOf(hosts: string, list: string | undefined): readonly { host: string; own?: string }[] {
  if (list !== undefined)
    return list.split(',').map((host) => {
      if (!host.includes(':') || host.startsWith('/') || ipVersion(host) === 6) return { host };
      throw wrong('the setting host takes no port: write port=PORT beside it');
    });
  return hosts.split(',').map((text) => {
    const [, bracketed, bare, own] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d{0,5}))?$/u.exec(text) ?? [];
    return { host: decoded(bracketed ?? bare ?? ''), ...given('own', own) };
  });
}

/** Defaults are in ~/.postgresql; a certificate there needs its key beside it. */
function filesOf(settings: ReadonlyMap<string, string>, env: NodeJS.ProcessEnv): Address['files'] {
  const home = homeIfAny(env);
  const usual = (name: string) => {
    const path = home === undefined ? undefined : join(home, '.postgresql', name);
    return path !== undefined && existsSync(path) ? path : undefined;
  };
  const hasIdentity = usual(FILES.cert[2]) !== undefined && usual(FILES.key[2]) !== undefined;
  return Object.fromEntries(
    Object.entries(FILES).flatMap(([name, [setting, variable, file]]) => {
      const isUsed = hasIdentity || file.startsWith('root.');
      const path = settings.get(setting) || env[variable] || (isUsed ? usual(file) : undefined);
      return path === undefined ? [] : [[name, path]];
    }),
  );
}

/**
 * libpq's default `prefer`, which a man in the middle can turn off, applies only to this machine. Another
 * server must prove its identity unless the address says otherwise.
 */
function usualMode(isNear: boolean): SslMode {
  return isNear ? 'prefer' : 'verify-full';
}

function oneOf<Word extends string>(
  name: string,
  words: readonly Word[],
  text: string | undefined,
  usual: Word,
): Word {
  if (text === undefined || text === '') return usual;
  const found = words.find((word) => word === text);
  if (found === undefined) throw wrong(`${name} is one of ${words.join(', ')}`);
  return found;
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/u.test(host);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('it has a % that encodes nothing: write it as %25');
  }
}

function given<Name extends string>(name: Name, value: string | undefined) {
  return value === undefined || value === '' ? {} : ({ [name]: value } as { [N in Name]: string });
}

function wrong(why: string, hints: readonly string[] = []): LifeboatError {
  return new LifeboatError('config.store', `the address of the store cannot be used: ${why}`, {
    hints: [...hints, 'it comes from LIFEBOAT_STORE or from `store` in the config'],
    exitCode: EXIT.usage,
  });
}

function holdsPassword(): LifeboatError {
  return new LifeboatError('config.store', 'the address of the store holds a password', {
    hints: [
      'a password belongs in ~/.pgpass (or the file that PGPASSFILE names), or in the variable PGPASSWORD',
      'the password is not repeated here: change it on the server',
    ],
    exitCode: EXIT.usage,
  });
}

/**
 * Encryption by `sslmode` (libpq, "SSL Support"); false for none, as on a socket. Throws `config.store` (exit
 * 2) for unreadable files, or a key that others can read.
 */
export function tlsOf(
  { sslmode, files }: Pick<Address, 'sslmode' | 'files'>,
  { host, address }: Server,
): ConnectionOptions | false {
  if (sslmode === 'disable' || (address ?? host).startsWith('/')) return false;
  const identity = {
    // With `hostaddr`, the certificate is still checked against the name.
    ...(address === undefined ? {} : { host, ...(ipVersion(host) === 0 ? { servername: host } : {}) }),
    ...(files.cert === undefined ? {} : { cert: contentOf(files.cert) }),
    ...(files.key === undefined ? {} : { key: contentOf(files.key, true) }),
  };
  const ca =
    files.rootcert === undefined || files.rootcert === 'system'
      ? {}
      : {
          ca: contentOf(files.rootcert),
          ...(files.crl === undefined ? {} : { crl: contentOf(files.crl) }),
        };
  if (sslmode === 'verify-full') return { ...identity, ...ca, rejectUnauthorized: true };
  // As in libpq, `require` verifies the certificate if a root certificate is named.
  if (sslmode === 'verify-ca' || (sslmode === 'require' && files.rootcert !== undefined))
    return { ...identity, ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return { ...identity, rejectUnauthorized: false };
}

function contentOf(path: string, isSecret = false): string {
  try {
    // libpq lets root's group read a key, but that is meant for servers.
    if (isSecret && (statSync(path).mode & 0o077) !== 0)
      throw unusable(path, 'others can read it', '`chmod 600` it');
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    const { why, advice } = troubleWith(path, error);
    throw unusable(path, why, advice);
  }
}

function unusable(path: string, why: string, advice: string): LifeboatError {
  return new LifeboatError('config.store', `${show(path, 120)} cannot be used for the store: ${why}`, {
    hints: [advice, 'the address of the store or a variable of libpq names it, or it lies in ~/.postgresql'],
    exitCode: EXIT.usage,
  });
}

/** `why` is the end of a hint. */
export type FoundPassword = { readonly secret: Secret } | { readonly why: string };

/** Built into packages of PostgreSQL; libpq looks there for `localhost`. */
const USUAL_SOCKETS: ReadonlySet<string> = new Set(['/tmp', '/var/run/postgresql', '/run/postgresql']);

const OTHERS = 0o077;

/**
 * The variable PGPASSWORD, else the first matching line of the password file (libpq, "The Password File").
 * Like libpq, ignores a file that others can read. Never throws.
 */
export function findPassword(
  address: Pick<Address, 'user' | 'database' | 'passfile'>,
  { host, port }: Server,
  env: NodeJS.ProcessEnv,
): FoundPassword {
  const given = env['PGPASSWORD'];
  if (given !== undefined && given !== '') return { secret: new Secret(given) };
  const home = homeIfAny(env);
  const named = address.passfile ?? env['PGPASSFILE'];
  if (!named && home === undefined) return { why: 'this user has no home folder: set PGPASSFILE' };
  const path = named || join(home ?? '', '.pgpass');
  const shown = show(path, 120);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { why: `${shown} is not a plain file` };
    if ((stats.mode & OTHERS) !== 0) return { why: `others can read ${shown}: \`chmod 600\` it` };
    const wanted = [
      USUAL_SOCKETS.has(host) ? 'localhost' : host,
      String(port),
      address.database,
      address.user,
    ];
    for (const line of readFileSync(path, 'utf8').split(/\r?\n/u)) {
      const fields = fieldsOf(line);
      const password = fields[4] ?? '';
      if (password === '' || !wanted.every((want, at) => fields[at] === '*' || fields[at] === want)) continue;
      return { secret: new Secret(password) };
    }
    return { why: `no line of ${shown} fits` };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { why: isMissing ? `there is no ${shown}` : `${shown} cannot be read` };
  }
}

/** `host:port:database:user:password`; a backslash escapes a colon or a backslash. */
function fieldsOf(line: string): readonly string[] {
  if (line.startsWith('#')) return [];
  const fields = [''];
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === ':') {
      fields.push('');
      continue;
    }
    if (line[at] === '\\' && at + 1 < line.length) at += 1;
    fields.push(`${fields.pop() ?? ''}${line[at] ?? ''}`);
  }
  return fields;
}
