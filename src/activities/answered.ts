import type { InDoubt } from './activity.ts';

/** Whether the service took the request and named no task that came of it. */
export function wasAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id' || lost?.code === 'service.old-id';
}

/**
 * Whether it took the request and said nothing that speaks against a new task's being ours. An answer with an
 * old id may be the copy of an earlier one, kept by somebody in between.
 */
export function wasPlainlyAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id';
}

/**
 * Whether the service itself said that it does something of the kind already (409, service-api.md section 4.2
 * item 2). It is no proof that nothing was done, since the first of two sends of a router may have arrived.
 * What a proxy says in its own words is none of the service.
 */
export function isRefusal(lost: InDoubt['lost']): boolean {
  if (lost?.code !== 'service.conflict') return false;
  const { word, text } = lost.evidence;
  return typeof word === 'string' ? /^[\w.-]+$/u.test(word) : typeof text === 'string';
}
