import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Address, Server } from './address.ts';

/**
 * How a connection to a server is encrypted, as `sslmode` says (libpq, "SSL Support"); false for not at all.
 * A socket is never encrypted. Throws `config.store` (exit 2) for a certificate or key that cannot be read,
 * or a key that others can.
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
