import { show } from '../base/text.ts';
import { redirectError } from './failures.ts';

/** RFC 9110 section 15.4 names no number; five is enough for a login round trip. */
export const MOST_REDIRECTS = 5;

const FOLLOWED: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Where a redirected GET goes on. Rejects with `service.redirect` what must not be followed: another origin
 * unless `elsewhere` allows it, from https to http, to something that is not HTTP, to a URL with credentials.
 */
export function nextHop(
  from: URL,
  status: number,
  location: string | string[] | undefined,
  elsewhere: boolean,
): URL {
  if (!FOLLOWED.includes(status) || typeof location !== 'string' || !URL.canParse(location, from.href)) {
    throw redirectError('to nowhere');
  }
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw redirectError('to something that is not HTTP');
  if (to.username !== '' || to.password !== '') throw redirectError('to an address with credentials');
  if (from.protocol === 'https:' && to.protocol === 'http:') throw redirectError('from https to plain http');
  if (to.origin !== from.origin && !elsewhere)
    throw redirectError(`to another origin, ${show(to.host, 100)}`);
  to.hash = '';
  return to;
}
