import { randomUUID } from 'node:crypto';

export interface AuditEvent {
  readonly guid: string;
  /** `audit.service_binding.create` */
  readonly type: string;
  readonly at: Date;
  readonly target: { readonly guid: string; readonly type: string; readonly name: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** What happened, oldest first, as the platform tells it to whoever asks for proof. No secret is in it. */
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
