import { EXIT, LifeboatError } from '../base/errors.ts';
import { readInstanceUrl } from '../base/instance-url.ts';
import { plainAddress, redact } from '../base/redact.ts';
import { show } from '../base/text.ts';
import type { Revision, Route } from './revisions.ts';

/** Both bases have no trailing slash and share one origin. */
export interface InstanceAddress {
  readonly id: string;
  readonly origin: string;
  /** `…/v1/instances/ID` */
  readonly v1: string;
  /** `…/service-instances/ID`, the dashboard address. */
  readonly v0: string;
  /** Plain HTTP to another machine: token and encryption key are sent unencrypted. Warn before use. */
  readonly insecure: boolean;
}

export interface RevisionAddress extends InstanceAddress {
  readonly revision: Revision;
}

/**
 * From the URL that `cf service` prints, or from its V1 form; scheme, host, prefix and id are the same in
 * both (service-api.md section 4). Throws `config.url` for everything else. Without a revision the result is
 * only for `detectRevision`, not for `openService`.
 */
export function addressFrom(url: string): InstanceAddress;
export function addressFrom(url: string, revision: Revision): RevisionAddress;
export function addressFrom(url: string, revision?: Revision): InstanceAddress | RevisionAddress {
  const read = readInstanceUrl(url);
  if (typeof read === 'string') throw badUrl(read, url);
  const { url: parsed, prefix, id } = read;
  return {
    id,
    origin: parsed.origin,
    v1: `${parsed.origin}${prefix}/v1/instances/${id}`,
    v0: `${parsed.origin}${prefix}/service-instances/${id}`,
    insecure: parsed.protocol === 'http:' && !isLoopback(parsed.hostname),
    ...(revision === undefined ? {} : { revision }),
  };
}

/** `id` replaces `:id`. */
export function urlOf(address: InstanceAddress, route: Route, id?: number): string {
  return `${address[route.base]}${route.path.replace(':id', String(id))}`;
}

/** The host name means this machine (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3). */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])$/u.test(hostname);
}

function badUrl(what: string, url: string): LifeboatError {
  const plain = plainAddress(url);
  const shown = plain === undefined ? '' : `: ${show(redact(plain), 120)}`;
  return new LifeboatError('config.url', `the instance url ${what}${shown}`, {
    hints: [
      'copy the dashboard address that `cf service NAME` prints: https://HOST/service-instances/ID',
      'the token has its own setting, `token`',
    ],
    exitCode: EXIT.usage,
  });
}
