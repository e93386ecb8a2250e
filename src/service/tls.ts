import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { readPlainFile, UnusableFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';
import type { Limits } from './limits.ts';

/** Set to `0`, it makes Node accept every certificate. */
export const UNCHECKED_TLS = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * When this module was loaded. The setting is ignored and removed: Node would falsely warn that nothing is
 * checked, and programs that Lifeboat starts would obey it.
 */
export const askedForUncheckedTls = process.env[UNCHECKED_TLS] === '0';
if (askedForUncheckedTls) delete process.env[UNCHECKED_TLS];

/** In place of a file. */
export const SYSTEM_AUTHORITIES = Symbol('the authorities of the system');
export type CaFile = string | typeof SYSTEM_AUTHORITIES;

/**
 * For every TLS connection of this process, to a service, a platform or a proxy: HTTP/1.1, at least TLS 1.2,
 * with the certificate checked whatever the environment says. `caFile` (PEM), or the system's authorities,
 * are trusted in addition to Node's. Throws `config.ca` for a file without certificates, and `trust.refused`
 * for one that others can write.
 */
export function tlsOptions(caFile: CaFile | undefined, limits: Limits): buildConnector.BuildOptions {
  const ca = caFile === undefined ? undefined : [...getCACertificates('default'), ...authoritiesIn(caFile)];
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    // Not even for reads: a GOAWAY can leave one hanging until its timeout, and nothing is multiplexed.
    allowH2: false,
    timeout: limits.connectMs,
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Bytes. All the authorities that browsers trust take a quarter of a MiB. */
const LARGEST_CA = 4 * 1024 * 1024;

function authoritiesIn(caFile: CaFile): string[] {
  return caFile === SYSTEM_AUTHORITIES ? getCACertificates('system') : [readCa(caFile)];
}

function readCa(path: string): string {
  try {
    const pem = readPlainFile(path, LARGEST_CA, (opened) => assertTrusted('ca file', path, opened)).toString(
      'utf8',
    );
    new X509Certificate(pem);
    return pem;
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    const why = cause instanceof UnusableFile ? `: ${cause.message}` : '';
    throw new LifeboatError(
      'config.ca',
      `the ca file ${show(path)} is not a readable PEM certificate${why}`,
      { hints: ['it begins with -----BEGIN CERTIFICATE-----'], exitCode: EXIT.usage },
    );
  }
}
