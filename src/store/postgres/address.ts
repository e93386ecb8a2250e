import { userInfo } from 'node:os';
import { EXIT, LifeboatError } from '../../base/errors.ts';
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
    if (!SETTINGS.has(name)) throw wrong(`it has a setting that is not known: ${show(name, 60)}`);
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
  throw wrong('it names no server, or one without a name or with a port that cannot be');
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
    throw wrong('it has a % that stands for nothing: write it as %25');
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
      'a password belongs into ~/.pgpass (or the file that PGPASSFILE names), or into the variable PGPASSWORD',
      'what stood there is not repeated here: change that password',
    ],
    exitCode: EXIT.usage,
  });
}
