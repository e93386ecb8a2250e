import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';

/** One server of an address: a name, an IP address, or the folder of a socket (begins with a slash). */
export interface Server {
  readonly host: string;
  readonly port: number;
}

/** Where the store is and how to get there; no secret is in it. */
export interface Address {
  /** Tried in this order. */
  readonly servers: readonly Server[];
  readonly user: string;
  readonly database: string;
  /** Milliseconds for one server until the next is tried. */
  readonly connectTimeout: number;
  readonly sslmode: SslMode;
  /** Paths as they were given. */
  readonly files: { readonly rootcert?: string; readonly cert?: string; readonly key?: string };
}

export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^/?#]*))?(?:\?(?<query>[^#]*))?$/iu;
const SECRETS = ['password', 'sslpassword', 'sslkeypassword', 'passfile'];
const PORT = 5432;
const CONNECT_SECONDS = 5;

/**
 * Reads the address of a store, as libpq takes it ("Connection URIs"):
 * `postgres://USER@HOST:PORT,HOST:PORT/DATABASE?sslmode=…`. What it does not say comes from libpq's variables
 * (PGUSER, PGDATABASE, PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY, PGCONNECT_TIMEOUT). Throws
 * `config.store` (exit 2), and never repeats an address that holds a password.
 */
export function parseAddress(url: string, env: NodeJS.ProcessEnv): Address {
  const { user, hosts = '', database, query } = FORM.exec(url)?.groups ?? {};
  if (!FORM.test(url)) throw wrong('it does not look like postgres://USER@HOST:PORT/DATABASE');
  if (user?.includes(':') === true) throw holdsPassword();
  const settings = settingsOf(query ?? '');
  const timeout = Number(settings.get('connect_timeout') ?? env['PGCONNECT_TIMEOUT'] ?? CONNECT_SECONDS);
  const servers = serversOf(settings.get('host') ?? decoded(hosts), settings.get('port'));
  const name = decoded(user ?? '') || settings.get('user') || env['PGUSER'] || userInfo().username;
  const isNear = servers.every(({ host }) => isLocal(host));
  return {
    servers,
    user: name,
    database: decoded(database ?? '') || settings.get('dbname') || env['PGDATABASE'] || name,
    connectTimeout: Math.max(1, Number.isFinite(timeout) ? timeout : CONNECT_SECONDS) * 1_000,
    sslmode: sslModeOf(settings.get('sslmode') ?? env['PGSSLMODE'], isNear),
    files: {
      ...given('rootcert', settings.get('sslrootcert') ?? env['PGSSLROOTCERT']),
      ...given('cert', settings.get('sslcert') ?? env['PGSSLCERT']),
      ...given('key', settings.get('sslkey') ?? env['PGSSLKEY']),
    },
  };
}

/** A server for a message. */
export function named({ host, port }: Server): string {
  return host.startsWith('/') ? show(host, 120) : `${show(host, 120)}:${port}`;
}

function settingsOf(query: string): ReadonlyMap<string, string> {
  const settings = new Map(new URLSearchParams(query));
  for (const name of settings.keys()) {
    if (SECRETS.includes(name.toLowerCase())) throw holdsPassword();
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
  'port',
  'user',
  'dbname',
  'connect_timeout',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'target_session_attrs',
  'application_name',
]);

function serversOf(hosts: string, ports: string | undefined): readonly Server[] {
  const shared = ports?.split(',');
  const servers = hosts.split(',').map((text, index) => {
    const socket = text.startsWith('/');
    const [, bracketed, bare, own] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d{1,5}))?$/u.exec(text) ?? [];
    const host = socket ? text : (bracketed ?? bare ?? '');
    const port = Number((socket ? undefined : own) ?? shared?.[index] ?? shared?.[0] ?? PORT);
    return { host, port };
  });
  if (servers.every(({ host, port }) => host !== '' && port > 0 && port < 65_536)) return servers;
  throw wrong('it names no server, or one without a name or with an impossible port');
}

/**
 * libpq's default is `prefer`, which a person in the middle turns off. Here it is for this machine only;
 * another one has to show that it is the right one unless the address says that it need not.
 */
function sslModeOf(text: string | undefined, isNear: boolean): SslMode {
  if (text === undefined || text === '') return isNear ? 'prefer' : 'verify-full';
  const mode = SSL_MODES.find((one) => one === text);
  if (mode === undefined) throw wrong(`sslmode is one of ${SSL_MODES.join(', ')}`);
  return mode;
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

function wrong(why: string): LifeboatError {
  return new LifeboatError('config.store', `the address of the store cannot be used: ${why}`, {
    hints: ['it comes from LIFEBOAT_STORE or from `store` in the config'],
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
 * How a connection is encrypted, as `sslmode` says (libpq, "SSL Support"); false for not at all, as for a
 * socket. Throws `config.store` (exit 2) for files that cannot be read, or a key that others can.
 */
export function tlsOf({ sslmode, files }: Address, { host }: Server): ConnectionOptions | false {
  if (sslmode === 'disable' || host.startsWith('/')) return false;
  const identity = {
    ...(files.cert === undefined ? {} : { cert: contentOf(files.cert) }),
    ...(files.key === undefined ? {} : { key: contentOf(files.key, true) }),
  };
  const ca =
    files.rootcert === undefined || files.rootcert === 'system' ? {} : { ca: contentOf(files.rootcert) };
  if (sslmode === 'verify-full') return { ...identity, ...ca, rejectUnauthorized: true };
  // As libpq: where a root certificate is named, `require` verifies it too.
  if (sslmode === 'verify-ca' || (sslmode === 'require' && files.rootcert !== undefined))
    return { ...identity, ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return { ...identity, rejectUnauthorized: false };
}

function contentOf(path: string, isSecret = false): string {
  try {
    // libpq lets root's group read a key; that is for servers.
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
    hints: [
      advice,
      'it is named by sslrootcert, sslcert or sslkey in the address of the store, or by a variable of libpq',
    ],
    exitCode: EXIT.usage,
  });
}

/** A password from where libpq looks for one, or why there is none: the end of a hint. */
export type FoundPassword = { readonly secret: Secret } | { readonly why: string };

/** Bits of the mode by which others than the owner get at a file. */
const OTHERS = 0o077;

/**
 * The password for a server: the variable PGPASSWORD, else the first line of the password file that fits
 * (libpq, "The Password File"). A file that others can read is passed over, as libpq does. Never throws.
 */
export function findPassword(
  address: Pick<Address, 'user' | 'database'>,
  { host, port }: Server,
  env: NodeJS.ProcessEnv,
): FoundPassword {
  const given = env['PGPASSWORD'];
  if (given !== undefined && given !== '') return { secret: new Secret(given) };
  const path = env['PGPASSFILE'] || join(env['HOME'] || homedir(), '.pgpass');
  const shown = show(path, 120);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { why: `${shown} is not a plain file` };
    if ((stats.mode & OTHERS) !== 0) return { why: `others can read ${shown}: \`chmod 600\` it` };
    const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), address.database, address.user];
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

/** `host:port:database:user:password`, where a backslash takes the meaning from a colon or a backslash. */
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
