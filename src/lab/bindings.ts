import { randomUUID } from 'node:crypto';
import type { InstanceData } from './data/instance-data.ts';

/** One application's credentials for an instance. Only the application knows the password. */
export interface Binding {
  readonly id: string;
  readonly app: string;
  readonly user: string;
  readonly createdAt: Date;
}

/** What a new binding gives its application. */
export type Credentials = Awaited<ReturnType<InstanceData['bind']>>;

/**
 * The bindings of applications to one instance. A restore invalidates them: the users get unknown passwords,
 * and the entries stay, as they do on a platform, until they are unbound.
 */
export class InstanceBindings {
  readonly #data: Pick<InstanceData, 'bind' | 'unbind'>;
  readonly #now: () => Date;
  readonly #bindings = new Map<string, Binding>();

  constructor(data: Pick<InstanceData, 'bind' | 'unbind'>, now: () => Date) {
    this.#data = data;
    this.#now = now;
  }

  /** Oldest first. */
  get all(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /** Creates a database user for an application. Rejects while the server is down. */
  async create(app: string): Promise<{ readonly binding: Binding; readonly credentials: Credentials }> {
    const credentials = await this.#data.bind();
    const binding = { id: randomUUID(), app, user: credentials.user, createdAt: this.#now() };
    this.#bindings.set(binding.id, binding);
    return { binding, credentials };
  }

  /**
   * Drops the user; false if there is no such binding. Rejects, and keeps the binding, while the server is
   * down.
   */
  async delete(id: string): Promise<boolean> {
    const binding = this.#bindings.get(id);
    if (binding === undefined) return false;
    await this.#data.unbind(binding.user);
    return this.#bindings.delete(id);
  }
}
