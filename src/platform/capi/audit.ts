import { z } from 'zod';
import { LifeboatError } from '../../base/errors.ts';
import { type Capi, pathOf } from './capi.ts';
import { AuditEvent } from './schemas.ts';

const MOST_EVENTS = 50;
const TELLING = /^audit\.(?:service_binding|service_key|app)\./u;

/**
 * What the platform itself has recorded about these things since then: an independent witness. Best effort: a
 * token that may not see it, or a platform that does not tell it, gives none.
 */
export async function auditEvents(
  capi: Capi,
  targets: readonly string[],
  since: string,
  signal: AbortSignal,
): Promise<{ readonly auditEvents?: string[] }> {
  const ms = Date.parse(since);
  if (targets.length === 0 || Number.isNaN(ms)) return {};
  const path = pathOf('/v3/audit_events', {
    target_guids: targets.join(','),
    'created_ats[gt]': `${new Date(ms - 1_000).toISOString().slice(0, 19)}Z`,
    order_by: 'created_at',
    per_page: String(MOST_EVENTS),
  });
  try {
    const { value } = await capi.get(path, z.object({ resources: z.array(AuditEvent) }), signal);
    const events = value.resources.filter(({ type }) => TELLING.test(type)).slice(0, MOST_EVENTS);
    return events.length === 0 ? {} : { auditEvents: events.map(({ type, guid }) => `${type} ${guid}`) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code !== 'platform.stopped') return {};
    throw thrown;
  }
}
