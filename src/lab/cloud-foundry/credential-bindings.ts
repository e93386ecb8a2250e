import { randomUUID } from 'node:crypto';
import { Secret } from '../../base/secret.ts';
import { tellCredentials } from '../http/bindings.ts';
import type { LabInstance } from '../instance.ts';
import type { AuditLog } from './audit-log.ts';
import { brokerFailed, unprocessable } from './cf-error.ts';
import type { LabApp } from './lab-app.ts';
import type { Metadata } from './metadata.ts';
import type { Job, Jobs } from './platform.ts';

export interface BindingOperation {
  readonly type: 'create' | 'delete';
  readonly state: 'initial' | 'in progress' | 'succeeded' | 'failed';
  readonly description: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface CredentialBinding {
  readonly guid: string;
  readonly type: 'app' | 'key';
  readonly name: string | null;
  readonly instance: LabInstance;
  /** Undefined for a key. */
  readonly app: LabApp | undefined;
  /** They may be secret. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  updatedAt: Date;
  operation: BindingOperation;
  /** From the broker; the credentials are JSON. */
  made: { readonly id: string; readonly credentials: Secret } | undefined;
}

export type BindingWish = Pick<
  CredentialBinding,
  'type' | 'name' | 'instance' | 'app' | 'parameters' | 'metadata'
>;

/** `single`: none beside another of the same application and instance. */
type BindingStrategy = 'single' | 'multiple';

export interface BindingParts {
  readonly jobs: Jobs;
  readonly audit: AuditLog;
  readonly now: () => Date;
  /** Bindings of an application to one instance. */
  readonly maxBindings: number;
  readonly unbindLost: boolean;
}

/**
 * The bindings as the platform keeps them: with a name, parameters, labels, and an operation that takes time
 * and may fail. The instance's own bindings create and drop the database user.
 */
export class CredentialBindings {
  readonly #parts: BindingParts;
  readonly #bindings = new Map<string, CredentialBinding>();

  constructor(parts: BindingParts) {
    this.#parts = parts;
  }

  /** Oldest first. */
  get all(): readonly CredentialBinding[] {
    return [...this.#bindings.values()];
  }

  /** Throws 422 if it is not allowed. An earlier one that failed gives way. */
  create(
    wish: BindingWish,
    strategy: BindingStrategy = 'single',
  ): { readonly binding: CredentialBinding; readonly job: Job } {
    const { now, maxBindings, audit, jobs } = this.#parts;
    checkNewBinding(wish, strategy, this.all, maxBindings);
    for (const failed of this.all.filter((other) => isSame(other, wish) && hasFailed(other))) {
      this.#bindings.delete(failed.guid);
    }
    const at = now();
    const operation = begun('create', 'initial', at);
    const guid = randomUUID();
    const times = { createdAt: at, updatedAt: at };
    const binding: CredentialBinding = { ...wish, guid, ...times, operation, made: undefined };
    this.#bindings.set(binding.guid, binding);
    audit.record(`${eventOf(binding)}.start_create`, targetOf(binding), requestOf(binding));
    const job = jobs.start(`${jobOf(binding)}.create`, resourceOf(binding), () => this.#make(binding));
    return { binding, job };
  }

  /** Throws 422 while another operation on the binding is in progress. */
  delete(binding: CredentialBinding): Job {
    const { now, audit, jobs } = this.#parts;
    if (binding.operation.state === 'initial' || binding.operation.state === 'in progress') {
      throw unprocessable('There is an operation in progress for the service binding.');
    }
    binding.operation = begun('delete', 'in progress', now());
    audit.record(`${eventOf(binding)}.start_delete`, targetOf(binding), requestOf(binding));
    return jobs.start(`${jobOf(binding)}.delete`, resourceOf(binding), () => this.#remove(binding));
  }

  async #make(binding: CredentialBinding): Promise<void> {
    this.#advance(binding, 'in progress');
    try {
      const label = binding.app?.name ?? binding.name ?? 'key';
      const { binding: made, credentials } = await binding.instance.bindings.create(label);
      binding.made = { id: made.id, credentials: new Secret(JSON.stringify(tellCredentials(credentials))) };
    } catch {
      const why = `Service broker error: ${unreachable(binding)}`;
      this.#advance(binding, 'failed', why);
      throw brokerFailed('bind', why);
    }
    this.#advance(binding, 'succeeded');
    this.#parts.audit.record(`${eventOf(binding)}.create`, targetOf(binding), requestOf(binding));
  }

  /** Lenient: a restore may have removed the user already. */
  async #remove(binding: CredentialBinding): Promise<void> {
    const { instance, made } = binding;
    try {
      const gone = instance.deleted || (instance.lost && this.#parts.unbindLost);
      if (made !== undefined && !gone) await instance.bindings.delete(made.id);
    } catch {
      const broker = `Service broker error: ${unreachable(binding)}`;
      const why = `Service broker failed to delete service binding for instance ${instance.name}: ${broker}`;
      this.#advance(binding, 'failed', why);
      throw brokerFailed('unbind', why);
    }
    this.#bindings.delete(binding.guid);
    this.#parts.audit.record(`${eventOf(binding)}.delete`, targetOf(binding), requestOf(binding));
  }

  #advance(binding: CredentialBinding, state: BindingOperation['state'], description: string | null = null) {
    const at = this.#parts.now();
    binding.operation = { ...binding.operation, state, description, updatedAt: at };
    binding.updatedAt = at;
  }
}

function begun(type: BindingOperation['type'], state: BindingOperation['state'], at: Date): BindingOperation {
  return { type, state, description: null, createdAt: at, updatedAt: at };
}

function isSame(binding: CredentialBinding, wish: BindingWish): boolean {
  const same = binding.type === wish.type && binding.instance === wish.instance && binding.app === wish.app;
  return same && (wish.type === 'app' || binding.name === wish.name);
}

function hasFailed({ operation }: CredentialBinding): boolean {
  return operation.type === 'create' && operation.state === 'failed';
}

function unreachable({ instance }: CredentialBinding): string {
  return `the database of ${instance.name} does not answer`;
}

function jobOf({ type }: CredentialBinding): string {
  return type === 'app' ? 'service_bindings' : 'service_keys';
}

function eventOf({ type }: CredentialBinding): string {
  return type === 'app' ? 'audit.service_binding' : 'audit.service_key';
}

function resourceOf({ guid }: CredentialBinding): Job['resource'] {
  return { type: 'service_credential_binding', guid };
}

function targetOf({ guid, type, name }: CredentialBinding) {
  return { guid, type: type === 'app' ? 'service_binding' : 'service_key', name: name ?? '' };
}

/** For an event; never with the parameters. */
function requestOf({ type, name, instance, app }: CredentialBinding) {
  const about = app === undefined ? {} : { app_guid: app.guid };
  return { request: { type, name, service_instance_guid: instance.guid, ...about } };
}

/**
 * Throws 422 in the platform's words (cloud_controller_ng,
 * `app/actions/service_credential_binding_app_create.rb` and `..._key_create.rb`). Without the strategy
 * `multiple` any bound application is "already bound"; with it, the limit decides (RFC 0040).
 */
function checkNewBinding(
  wish: BindingWish,
  strategy: BindingStrategy,
  bindings: readonly CredentialBinding[],
  maxBindings: number,
): void {
  if (wish.type === 'key') checkKey(wish, bindings);
  else checkApp(wish, strategy, bindings, maxBindings);
}

function checkApp(
  { app, instance, name }: BindingWish,
  strategy: BindingStrategy,
  bindings: readonly CredentialBinding[],
  maxBindings: number,
): void {
  if (app === undefined) throw unprocessable('No app was specified');
  const existing = bindings.filter(
    (other) => other.app === app && other.instance === instance && !isLeftOver(other),
  );
  for (const { operation, guid, name: before } of existing) {
    if (operation.type === 'create' && strategy === 'single') {
      throw unprocessable('The app is already bound to the service instance');
    }
    if (operation.type === 'create' && operation.state !== 'succeeded') {
      const which = `(binding guid: ${guid})`;
      throw unprocessable(
        `There is already a binding in progress for this service instance and app ${which}`,
      );
    }
    if (operation.type === 'delete') {
      throw unprocessable(
        maxBindings === 1
          ? 'The binding is getting deleted or its deletion failed'
          : 'A binding for this service instance and app is getting deleted or its deletion failed',
      );
    }
    if (before !== name) {
      throw unprocessable('The binding name cannot be changed for the same app and service instance');
    }
  }
  if (existing.length >= maxBindings) {
    const limit = `(limit: ${maxBindings}). Consider deleting existing/orphaned bindings.`;
    throw unprocessable(`The app has too many bindings to this service instance ${limit}`);
  }
  if (name === null) return;
  if (bindings.some((other) => other.app === app && other.instance !== instance && other.name === name)) {
    const rule = 'Binding names must be unique for a given service instance and app.';
    throw unprocessable(
      `The binding name is invalid. ${rule} The app already has a binding with name '${name}'.`,
    );
  }
}

function checkKey({ instance, name }: BindingWish, bindings: readonly CredentialBinding[]): void {
  const other = bindings.some(
    (key) => key.type === 'key' && key.instance === instance && key.name === name && !isLeftOver(key),
  );
  if (!other) return;
  const rule = 'Key binding names must be unique.';
  const detail = `The service instance already has a key binding with name '${name}'.`;
  throw unprocessable(`The binding name is invalid. ${rule} ${detail}`);
}

/** A failed creation makes room for the next binding. */
function isLeftOver({ operation }: CredentialBinding): boolean {
  return operation.type === 'create' && operation.state === 'failed';
}
