import { randomUUID } from 'node:crypto';
import { ORG, SPACE } from '../landscape.ts';
import { badQuery } from './cf-error.ts';
import { stamp } from './metadata.ts';
import { type CfRequest, oneOf, paged, queryOf } from './route.ts';

interface AuditEvent {
  readonly guid: string;
  /** Such as `audit.service_binding.create`. */
  readonly type: string;
  readonly at: Date;
  readonly target: { readonly guid: string; readonly type: string; readonly name: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** Oldest first. No event has a secret. */
export class AuditLog {
  readonly #now: () => Date;
  readonly #events: AuditEvent[] = [];

  constructor(now: () => Date) {
    this.#now = now;
  }

  get all(): readonly AuditEvent[] {
    return this.#events;
  }

  record(type: string, target: AuditEvent['target'], data: AuditEvent['data'] = {}): void {
    this.#events.push({ guid: randomUUID(), type, at: this.#now(), target, data });
  }

  recordApp(type: string, app: { readonly guid: string; readonly name: string }, data?: AuditEvent['data']) {
    this.record(type, { guid: app.guid, type: 'app', name: app.name }, data);
  }
}

/** Filtered by `types`, `target_guids`, spaces, orgs and `created_ats`. */
export function auditEvents(request: CfRequest): object {
  const query = queryOf(request.context, ['types', 'target_guids', 'space_guids', 'organization_guids']);
  const isInTime = timesOf(query);
  const found = request.platform.audit.all.filter(
    ({ type, target, at }) =>
      oneOf(query['types'], type) &&
      oneOf(query['target_guids'], target.guid) &&
      oneOf(query['space_guids'], SPACE.guid) &&
      oneOf(query['organization_guids'], ORG.guid) &&
      isInTime(stamp(at)),
  );
  return paged(request, found, presentEvent);
}

/** The platform reports whole seconds, and compares them. */
const COMPARISONS: Readonly<Record<string, (at: string, limit: string) => boolean>> = {
  created_ats: (at, limit) => limit.split(',').includes(at),
  'created_ats[lt]': (at, limit) => at < limit,
  'created_ats[lte]': (at, limit) => at <= limit,
  'created_ats[gt]': (at, limit) => at > limit,
  'created_ats[gte]': (at, limit) => at >= limit,
};

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u;

function timesOf(query: Readonly<Record<string, string>>): (at: string) => boolean {
  const limits = Object.entries(query).flatMap(([name, limit]) => {
    const compare = COMPARISONS[name];
    if (compare === undefined) return [];
    if (!limit.split(',').every((time) => STAMP.test(time))) {
      const form = "Timestamps should be formatted as 'YYYY-MM-DDThh:mm:ssZ'";
      throw badQuery(`Created ats has an invalid timestamp format. ${form}`);
    }
    return [(at: string) => compare(at, limit)];
  });
  return (at) => limits.every((holds) => holds(at));
}

const ACTOR = { guid: '3f1a7b52-08d4-4c5e-9b76-e1d2c0a4f983', type: 'user', name: 'operator' } as const;

function presentEvent({ guid, type, at, target, data }: AuditEvent, origin: string): object {
  return {
    guid,
    created_at: stamp(at),
    updated_at: stamp(at),
    type,
    actor: ACTOR,
    target,
    data,
    space: { guid: SPACE.guid },
    organization: { guid: ORG.guid },
    links: { self: { href: `${origin}/v3/audit_events/${guid}` } },
  };
}
