import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { readPlainFile, UnusableFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';
import type { Limits } from './limits.ts';

/** The variable that makes Node accept every certificate when it is `0`. */
export const UNCHECKED_TLS = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * Whether the environment asked for TLS without certificates when this module was loaded. It is not obeyed,
 * and taken out of the environment: Node would warn that nothing is checked, which is not so, and programs
 * that Lifeboat starts would obey it.
 */
export const askedForUncheckedTls = process.env[UNCHECKED_TLS] === '0';
if (askedForUncheckedTls) delete process.env[UNCHECKED_TLS];

/** Stands for the authorities of the system, where a file of one could be named. */
export const SYSTEM_AUTHORITIES = Symbol('the authorities of the system');
export type CaFile = string | typeof SYSTEM_AUTHORITIES;

/**
 * How every TLS connection of this process is made, to a service, a platform or a proxy: HTTP/1.1, TLS 1.2 at
 * least, the certificate checked whatever the environment says. `caFile` (PEM), or the authorities of the
 * system, are trusted besides those that Node trusts. Throws `config.ca` for a file that is no certificate,
 * and `trust.refused` for one that others could have written.
 */
export function tlsOptions(caFile: CaFile | undefined, limits: Limits): buildConnector.BuildOptions {
  const ca = caFile === undefined ? undefined : [...getCACertificates('default'), ...authoritiesIn(caFile)];
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    // HTTP/2 is left out of reads too: a GOAWAY can leave one hanging until its timeout, and there is nothing
    // to multiplex.
    allowH2: false,
    timeout: limits.connectMs,
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Bytes. All the authorities that browsers trust are a quarter of one MiB. */
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
