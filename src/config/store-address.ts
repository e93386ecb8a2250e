import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

export const SQLITE = 'sqlite';

const SCHEME = /^postgres(?:ql)?:\/\//iu;
const FORM = /^(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?:\/[^/?#]*)?(?:\?(?<query>[^#]*))?$/u;
const SECRETS = /^(?:password|sslpassword|scram_client_key|scram_server_key|oauth_client_secret)$/iu;

/** Where a password belongs (libpq, "The Password File"). */
const PASSWORD_HINT =
  'a password belongs in ~/.pgpass (or the file that PGPASSFILE names), or in the variable PGPASSWORD';

export function isPostgres(address: string): boolean {
  return SCHEME.test(address);
}

/**
 * Undefined for `sqlite` or `postgres://[USER@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?...]`, which the engine
 * reads in full (store/postgres/address.ts). Never repeats the text, which may hold a password.
 */
export function problemOfStore(address: string): string | undefined {
  if (address === SQLITE) return undefined;
  if (!isPostgres(address)) return 'a store is `sqlite` or an address that begins with postgres://';
  if (address.length > 2_000 || /[\s\p{Cc}]/u.test(address))
    return 'the address of a store is one line without spaces';
  const { user, hosts, query } = FORM.exec(address.replace(SCHEME, ''))?.groups ?? {};
  if (hosts === undefined) return 'this is not an address of the form postgres://USER@HOST/DATABASE';
  if (user?.includes(':') === true) return `an address of a store has no password: ${PASSWORD_HINT}`;
  const names = [...new URLSearchParams(query ?? '').keys()];
  if (names.some((name) => SECRETS.test(name)))
    return `an address of a store has no secret in its query: ${PASSWORD_HINT}`;
  if (!/^[A-Za-z0-9.,:_%[\]-]*$/u.test(hosts))
    return 'an address of a store names one host, or several with commas between them';
  return undefined;
}

/** LIFEBOAT_STORE, else the config, else the home. Throws `config.store` (exit 2) for a bad variable. */
export function chosenStore(env: NodeJS.ProcessEnv, configured: string | undefined): string {
  const named = env['LIFEBOAT_STORE'];
  if (named === undefined || named === '') return configured ?? SQLITE;
  return checkedStore(named, 'LIFEBOAT_STORE');
}

/** The address itself. Throws `config.store` (exit 2) if it is invalid; `where` names its origin. */
export function checkedStore(address: string, where: string): string {
  const problem = problemOfStore(address);
  if (problem === undefined) return address;
  const [what = problem, ...hints] = problem.split(`: ${PASSWORD_HINT}`);
  throw new LifeboatError('config.store', `${where}: ${what}`, {
    hints:
      hints.length > 0 ? [PASSWORD_HINT, 'the password is not repeated here: change it on the server'] : [],
    exitCode: EXIT.usage,
  });
}

/** An address for display: one with a secret would have been refused. */
export function shownStore(address: string): string {
  return show(address, 200);
}
