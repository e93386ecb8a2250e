import { randomUUID } from 'node:crypto';
import type { App, Binding, Job, Operation, Task } from './capi-land.ts';
import { type CapiAnswer, type CapiRequest, refusal, unprocessable } from './capi-words.ts';

/** What can be changed, with the sentences of the real one (`app/actions`, `app/controllers/v3`). */
export function act(request: CapiRequest): CapiAnswer {
  const { method, segments, land } = request;
  const [kind = '', guid] = segments;
  const call = `${method} ${kind}`;
  if (call === 'POST service_credential_bindings') return bind(request);
  if (call === 'DELETE service_credential_bindings') return unbind(request, guid ?? '');
  if (call === 'PATCH service_credential_bindings') return label(request, guid ?? '');
  if (call === 'POST builds') return build(request);
  if (call === 'POST deployments' && request.hasDeployments) return deploy(request);
  const app = land.apps.find((one) => one.guid === guid && one.space.visible);
  if (kind !== 'apps' || app === undefined) return refusal(404, 10_000, 'CF-NotFound', 'Unknown request');
  return actOnApp(request, app, segments.slice(2).join('/'));
}

function bind(request: CapiRequest): CapiAnswer {
  const { land, body } = request;
  const type = body['type'] === 'key' ? 'key' : 'app';
  const name = typeof body['name'] === 'string' ? body['name'] : null;
  const instance = land.instances.find(({ guid }) => guid === relation(body, 'service_instance'));
  if (instance === undefined) return unprocessable("The service instance could not be found: ''");
  const app = land.apps.find(({ guid }) => guid === relation(body, 'app'));
  if (type === 'app' && app === undefined)
    return unprocessable("The app could not be found: ''", 'app blank');
  const refused =
    type === 'key' ? keyTaken(request, instance.guid, name) : whyNot(request, app, instance, name);
  if (refused !== undefined) return refused;
  land.bindings = land.bindings.filter(
    (one) => one.app !== app || one.instance !== instance || !isFailed(one, 'create') || type === 'key',
  );
  const binding = land.addBinding({
    type,
    name,
    app,
    instance,
    parameters: (body['parameters'] ?? {}) as object,
    createdAt: land.now(),
    labels: labelsIn(body),
    operation: { type: 'create', state: 'initial', description: '' },
  });
  land.note(`audit.service_${type === 'key' ? 'key' : 'binding'}.start_create`, binding.guid);
  return enqueue(request, binding, 'create', request.fails ?? instance.brokerSays);
}

function whyNot(
  { land, body, maxBindings }: CapiRequest,
  app: App | undefined,
  instance: Binding['instance'],
  name: string | null,
): CapiAnswer | undefined {
  const spaces = [instance.space, ...instance.sharedInto];
  if (app === undefined || !spaces.includes(app.space)) {
    return unprocessable('The service instance and the app are in different spaces');
  }
  const pair = land.bindingsOf(app).filter((one) => one.instance === instance);
  if (pair.some(({ operation }) => operation?.type === 'delete' && operation.state !== 'succeeded')) {
    return unprocessable('The binding is getting deleted or its deletion failed');
  }
  const alive = pair.filter((one) => !isFailed(one, 'create'));
  const most = body['strategy'] === 'multiple' ? maxBindings : 1;
  if (alive.length >= most) {
    return unprocessable(
      most === 1
        ? 'The app is already bound to the service instance'
        : `The app has too many bindings to this service instance (limit: ${most}).`,
    );
  }
  const taken = land.bindingsOf(app).some((one) => one.name === name && one.instance !== instance);
  if (name === null || !taken) return undefined;
  return unprocessable(
    `The binding name is invalid. App binding names must be unique. The app already has a binding with name '${name}'.`,
  );
}

function keyTaken({ land }: CapiRequest, instance: string, name: string | null): CapiAnswer | undefined {
  const taken = land.bindings.some(
    (one) => one.type === 'key' && one.instance.guid === instance && one.name === name,
  );
  const words = `The binding name is invalid. Key binding names must be unique. The service instance already has a key binding with name '${name}'.`;
  return taken ? unprocessable(words) : undefined;
}

function unbind(request: CapiRequest, guid: string): CapiAnswer {
  const { land } = request;
  const binding = land.bindings.find((one) => one.guid === guid);
  if (binding === undefined) {
    return refusal(404, 10_010, 'CF-ResourceNotFound', 'Service credential binding not found');
  }
  if (/initial|in progress/u.test(binding.operation?.state ?? '')) {
    return unprocessable('There is an operation in progress for the service binding.');
  }
  land.note(`audit.service_${binding.type === 'key' ? 'key' : 'binding'}.start_delete`, guid);
  return enqueue(request, binding, 'delete', request.fails ?? binding.instance.brokerSays);
}

/** A worker comes to it later; until then nothing shows but the job. */
function enqueue(
  { land, origin, later }: CapiRequest,
  binding: Binding,
  type: Operation['type'],
  fails: string | undefined,
): CapiAnswer {
  const job: Job = { guid: randomUUID(), state: 'PROCESSING', error: undefined };
  land.jobs.push(job);
  later(() => {
    job.state = 'POLLING';
    binding.operation = { type, state: 'in progress', description: '' };
    later(() => {
      job.error = fails;
      job.state = fails === undefined ? 'COMPLETE' : 'FAILED';
      binding.operation = {
        type,
        state: fails === undefined ? 'succeeded' : 'failed',
        description: fails ?? '',
      };
      if (fails !== undefined) return;
      if (type === 'delete') land.bindings = land.bindings.filter((one) => one !== binding);
      land.note(`audit.service_${binding.type === 'key' ? 'key' : 'binding'}.${type}`, binding.guid);
    });
  });
  return { status: 202, headers: { location: `${origin}/v3/jobs/${job.guid}` } };
}

function label({ land, body }: CapiRequest, guid: string): CapiAnswer {
  const binding = land.bindings.find((one) => one.guid === guid);
  if (binding === undefined) return refusal(404, 10_010, 'CF-ResourceNotFound', 'not found');
  Object.assign(binding, { labels: labelsIn(body) });
  return { status: 200, json: { guid } };
}

function build({ land, body, fails, later }: CapiRequest): CapiAnswer {
  const { guid } = (body['package'] ?? {}) as { guid?: string };
  const app = land.apps.find((one) => one.package === guid);
  if (app === undefined) return unprocessable('Unable to use package. Ensure that the package exists.');
  if (land.builds.some((one) => one.app === app && one.state === 'STAGING')) {
    return unprocessable('Only one build can be STAGING at a time per application.');
  }
  const task = begin(land, app, body, 'STAGING', null);
  land.builds.push(task);
  land.note('audit.app.build.create', app.guid);
  later(() => {
    task.state = fails === undefined ? 'STAGED' : 'FAILED';
    task.error = fails ?? null;
    if (fails === undefined) task.droplet = randomUUID();
  });
  return { status: 201, json: { guid: task.guid, state: task.state, metadata: { labels: task.labels } } };
}

function deploy({ land, body, fails, reason = 'CANCELED', later }: CapiRequest): CapiAnswer {
  const app = land.apps.find(({ guid }) => guid === relation(body, 'app'));
  if (app === undefined) return unprocessable("The app could not be found: ''");
  const { guid: droplet } = (body['droplet'] ?? app.droplet) as { guid: string };
  for (const one of land.deployments) {
    if (one.app === app && one.state === 'DEPLOYING') one.state = 'SUPERSEDED';
  }
  const task = begin(land, app, body, 'DEPLOYING', droplet);
  land.deployments.push(task);
  land.note('audit.app.deployment.create', app.guid);
  later(() => {
    if (task.state !== 'DEPLOYING') return;
    task.state = fails === undefined ? 'DEPLOYED' : reason;
    task.error = fails ?? null;
    if (fails !== undefined) return;
    app.droplet = { guid: droplet, createdAt: land.now() };
    land.start(app);
  });
  return {
    status: 201,
    json: {
      guid: task.guid,
      status: { value: 'ACTIVE', reason: 'DEPLOYING', details: null },
      metadata: { labels: task.labels },
    },
  };
}

function actOnApp({ land, body }: CapiRequest, app: App, rest: string): CapiAnswer {
  if (rest === 'actions/start' || rest === 'actions/restart') land.start(app);
  else if (rest === 'actions/stop') {
    app.state = 'STOPPED';
    for (const one of app.processes) one.startedAt = undefined;
  } else if (rest === 'relationships/current_droplet') {
    const { guid } = (body['data'] ?? {}) as { guid: string };
    app.droplet = { guid, createdAt: land.now() };
  } else return refusal(404, 10_000, 'CF-NotFound', 'Unknown request');
  land.note(`audit.app.${rest.split('/').at(-1)}`, app.guid);
  return { status: 200, json: { guid: app.guid } };
}

function begin(
  land: CapiRequest['land'],
  app: App,
  body: CapiRequest['body'],
  state: string,
  droplet: string | null,
): Task {
  const labels = labelsIn(body);
  return { guid: randomUUID(), app, createdAt: land.now(), labels, state, error: null, droplet };
}

function relation(body: CapiRequest['body'], name: string): string | undefined {
  const all = (body['relationships'] ?? {}) as Record<string, { data?: { guid?: string } } | undefined>;
  return all[name]?.data?.guid;
}

function labelsIn(body: CapiRequest['body']): Record<string, string> {
  return ((body['metadata'] ?? {}) as { labels?: Record<string, string> }).labels ?? {};
}

function isFailed({ operation }: Binding, type: Operation['type']): boolean {
  return operation?.type === type && operation.state === 'failed';
}
