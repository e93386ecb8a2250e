import { type CapiModel, type ModelBinding, thing } from './capi-model.ts';

/** What a call is answered with. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
}

export function problem(status: number, detail: string): Reply {
  const title = status === 404 ? 'CF-ResourceNotFound' : 'CF-UnprocessableEntity';
  return { status, body: { errors: [{ code: status === 404 ? 10010 : 10008, title, detail }] } };
}

const NOT_FOUND = problem(404, 'Resource not found');

interface BindingRequest {
  readonly type: 'app' | 'key';
  readonly name?: string;
  readonly strategy?: string;
  readonly parameters?: Record<string, unknown>;
  readonly relationships: {
    readonly app?: { readonly data: { readonly guid: string } };
    readonly service_instance: { readonly data: { readonly guid: string } };
  };
  readonly metadata?: { readonly labels?: Record<string, string> };
}

/** The calls that change something, with the refusals of cloud_controller_ng word by word. */
export function change(model: CapiModel, asked: Asked): Reply {
  const { method, path, body } = asked;
  const call = `${method} ${path}`;
  if (call === 'POST /v3/service_credential_bindings')
    return createBinding(model, body as unknown as BindingRequest);
  if (call === 'POST /v3/builds') return createBuild(model, body);
  if (call === 'POST /v3/deployments') return createDeployment(model, body);
  const [, kind, guid = ''] = /^\/v3\/(service_credential_bindings|apps)\/([^/]+)/u.exec(path) ?? [];
  if (kind === 'service_credential_bindings' && method === 'DELETE') return deleteBinding(model, guid);
  const app = model.apps.find((one) => one.guid === guid);
  if (app === undefined) return NOT_FOUND;
  if (path.endsWith('/relationships/current_droplet')) {
    const { data } = body as { data: { guid: string } };
    app.droplet = { ...thing(), guid: data.guid };
    model.record('app.droplet.mapped', guid);
    return { status: 200, body: { data } };
  }
  const action = path.split('/').at(-1);
  if (action === 'stop') app.state = 'STOPPED';
  else model.start(app);
  model.record(`app.${action}`, guid);
  return { status: 200, body: {} };
}

function createBinding(model: CapiModel, request: BindingRequest): Reply {
  const instance = request.relationships.service_instance.data.guid;
  const app = model.apps.find(({ guid }) => guid === request.relationships.app?.data.guid);
  if (request.type === 'app') {
    const refusal = refusalOf(model, app?.guid, instance, request.name ?? null);
    if (refusal !== undefined) return problem(422, refusal);
  }
  const binding = model.addBinding(app, instance, {
    ...thing(Date.now(), request.metadata?.labels),
    type: request.type,
    name: request.name ?? null,
    parameters: request.parameters ?? {},
    operation: { type: 'create', state: 'in progress', description: '' },
  });
  model.record(`service_${request.type === 'app' ? 'binding' : 'key'}.create`, binding.guid);
  return startJob(model, binding, () => undefined);
}

function refusalOf(
  model: CapiModel,
  app: string | undefined,
  instance: string,
  name: string | null,
): string | undefined {
  const pair = model.bindings.filter((one) => one.app === app && one.instance === instance);
  model.bindings = model.bindings.filter(
    (one) => !(pair.includes(one) && one.operation.type === 'create' && one.operation.state === 'failed'),
  );
  const left = pair.filter((one) => model.bindings.includes(one));
  for (const { guid, operation, name: old } of left) {
    const creating = operation.type === 'create';
    if (model.maxBindings === 1 && creating) return 'The app is already bound to the service instance';
    if (creating && operation.state === 'in progress') {
      return `There is already a binding in progress for this service instance and app (binding guid: ${guid})`;
    }
    if (!creating) return 'The binding is getting deleted or its deletion failed';
    if (old !== name) return 'The binding name cannot be changed for the same app and service instance';
  }
  if (left.length < model.maxBindings) return undefined;
  return `The app has too many bindings to this service instance (limit: ${model.maxBindings}). Consider deleting existing/orphaned bindings.`;
}

function deleteBinding(model: CapiModel, guid: string): Reply {
  const binding = model.bindings.find((one) => one.guid === guid);
  if (binding === undefined) return NOT_FOUND;
  binding.operation = { type: 'delete', state: 'in progress', description: '' };
  model.record(`service_${binding.type === 'app' ? 'binding' : 'key'}.delete`, guid);
  return startJob(model, binding, () => {
    model.bindings = model.bindings.filter((one) => one !== binding);
  });
}

function startJob(model: CapiModel, binding: ModelBinding, done: () => void): Reply {
  const job = model.job(() => {
    const [error] = job.errors;
    const state = error === undefined ? 'succeeded' : 'failed';
    binding.operation = { ...binding.operation, state, description: error?.detail ?? '' };
    if (error === undefined) done();
  });
  return { status: 202, headers: { location: `https://api.elsewhere.example/v3/jobs/${job.guid}` } };
}

function createBuild(model: CapiModel, body: Record<string, unknown>): Reply {
  const { package: from, metadata } = body as unknown as {
    package: { guid: string };
    metadata?: { labels: Record<string, string> };
  };
  const error = model.nextBuildFails ?? null;
  model.nextBuildFails = undefined;
  const app = from.guid.replace('package-of-', '');
  const build = {
    ...thing(Date.now(), metadata?.labels),
    app,
    state: 'STAGING' as const,
    error,
    droplet: null,
  };
  model.builds.push(build);
  model.record('app.build.create', app);
  return { status: 201, body: build };
}

function createDeployment(model: CapiModel, body: Record<string, unknown>): Reply {
  if (model.deployments404) return NOT_FOUND;
  const { relationships, droplet, metadata } = body as unknown as {
    relationships: { app: { data: { guid: string } } };
    droplet?: { guid: string };
    metadata?: { labels: Record<string, string> };
  };
  const app = model.apps.find(({ guid }) => guid === relationships.app.data.guid);
  if (app === undefined) return NOT_FOUND;
  const ends = model.nextDeploymentEnds;
  model.nextDeploymentEnds = undefined;
  if (ends === undefined && droplet !== undefined) app.droplet = { ...thing(), guid: droplet.guid };
  const deployment = {
    ...thing(Date.now(), metadata?.labels),
    app: app.guid,
    droplet: droplet?.guid ?? app.droplet.guid,
    value: 'ACTIVE' as const,
    reason: ends?.reason ?? 'DEPLOYING',
    error: ends?.error ?? null,
  };
  model.deployments.push(deployment);
  model.record('app.deployment.create', app.guid);
  return { status: 201, body: deploymentJson(deployment) };
}

export function deploymentJson(one: CapiModel['deployments'][number]) {
  const { guid, created_at, metadata, value, reason, error, droplet } = one;
  const status = { value, reason, details: { error, last_status_change: created_at } };
  return { guid, created_at, updated_at: created_at, metadata, status, droplet: { guid: droplet } };
}
