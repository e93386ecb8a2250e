import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { curl, instanceOf, restoreEnded, until } from './helpers.ts';

export interface CfAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly json: unknown;
}

type LabLike = Pick<Lab, 'url' | 'tokenFile'>;

/** Asks the platform over HTTP, with the full token unless another one is given. */
export async function cf(
  lab: LabLike,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly token?: string | undefined } = {},
): Promise<CfAnswer> {
  const token = 'token' in options ? options.token : await readFile(lab.tokenFile, 'utf8');
  const answer = await fetch(path.startsWith('http') ? path : `${lab.url}${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `bearer ${token}` },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await answer.text();
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: answer.status, location: answer.headers.get('location'), json };
}

export function readOnlyToken(lab: LabLike): Promise<string> {
  return readFile(join(dirname(lab.tokenFile), 'token-readonly'), 'utf8');
}

const Errors = z.object({
  errors: z
    .array(z.object({ code: z.int(), title: z.string().startsWith('CF-'), detail: z.string() }))
    .length(1),
});

/** Status and text of a refusal, which has Cloud Foundry's shape. */
export function refusal({ status, json }: CfAnswer): string {
  const [error] = Errors.parse(json).errors;
  return `${status} ${error?.code} ${error?.detail}`;
}

const Operation = z.object({ type: z.string(), state: z.string(), description: z.string().nullable() });
const CfBinding = z.object({
  guid: z.guid(),
  type: z.enum(['app', 'key']),
  name: z.string().nullable(),
  created_at: z.iso.datetime({ precision: 0 }),
  last_operation: Operation,
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  relationships: z.object({
    app: z.object({ data: z.object({ guid: z.guid() }) }).optional(),
    service_instance: z.object({ data: z.object({ guid: z.guid() }) }),
  }),
});

export const CfPage = z.object({
  pagination: z.object({
    total_results: z.int(),
    total_pages: z.int(),
    next: z.object({ href: z.string() }).nullable(),
    previous: z.object({ href: z.string() }).nullable(),
  }),
  resources: z.array(z.object({ guid: z.guid(), name: z.string().nullish() })),
});

export async function bindings(lab: LabLike, query = '') {
  const { json } = await cf(lab, 'GET', `/v3/service_credential_bindings?per_page=5000${query}`);
  return z.object({ resources: z.array(CfBinding) }).parse(json).resources;
}

export function appOf(lab: Lab, name: string) {
  const app = lab.platform?.appStates().find((candidate) => candidate.name === name);
  if (app === undefined) throw new Error(`no application ${name}`);
  return app;
}

/** The body of a binding of an application, or, without one, of a key. */
export function bindingBody(lab: Lab, instance: string, app: string | undefined, more: object = {}) {
  const to = { data: { guid: instanceOf(lab, instance).guid } };
  const relationships = app === undefined ? {} : { app: { data: { guid: appOf(lab, app).guid } } };
  const type = app === undefined ? 'key' : 'app';
  return { type, relationships: { service_instance: to, ...relationships }, ...more };
}

export function bind(
  lab: Lab,
  instance: string,
  app: string | undefined,
  more: object = {},
): Promise<CfAnswer> {
  const body = bindingBody(lab, instance, app, more);
  return cf(lab, 'POST', '/v3/service_credential_bindings', { body });
}

export function unbind(lab: LabLike, guid: string): Promise<CfAnswer> {
  return cf(lab, 'DELETE', `/v3/service_credential_bindings/${guid}`);
}

const CfJob = z.object({
  state: z.enum(['PROCESSING', 'POLLING', 'COMPLETE', 'FAILED']),
  operation: z.string(),
  errors: z.array(z.object({ code: z.int(), title: z.string(), detail: z.string() })),
});

/** Follows the job of an accepted request to its end. */
export async function jobEnded(lab: LabLike, accepted: CfAnswer) {
  expect(accepted.status, JSON.stringify(accepted.json)).toBe(202);
  return await until('the job is over', async () => {
    const job = CfJob.parse((await cf(lab, 'GET', accepted.location ?? '')).json);
    return ['COMPLETE', 'FAILED'].includes(job.state) ? job : undefined;
  });
}

/** Waits until every application is in a state. */
export async function appsAre(lab: Lab, state: 'ok' | 'failing', names?: readonly string[]) {
  const isMeant = ({ name }: { readonly name: string }) => names === undefined || names.includes(name);
  return await lab.platform?.appsReach(
    (apps) => apps.filter(isMeant).every((app) => app.state === state),
    AbortSignal.timeout(20_000),
  );
}

const Guid = z.object({ guid: z.guid() });

/** Stages the newest package of an application; gives the droplet. */
export async function stage(lab: Lab, app: string, metadata: object = {}): Promise<string> {
  const packages = await cf(
    lab,
    'GET',
    `/v3/packages?app_guids=${appOf(lab, app).guid}&states=READY&order_by=-created_at`,
  );
  const guid = CfPage.parse(packages.json).resources[0]?.guid;
  const posted = await cf(lab, 'POST', '/v3/builds', { body: { package: { guid }, metadata } });
  expect(posted).toMatchObject({ status: 201, json: { state: 'STAGING', droplet: null } });
  return await until('the build is staged', async () => {
    const { json } = await cf(lab, 'GET', `/v3/builds/${Guid.parse(posted.json).guid}`);
    const build = z.object({ state: z.string(), droplet: Guid.nullable() }).parse(json);
    return build.state === 'STAGED' ? build.droplet?.guid : undefined;
  });
}

const CfDeployment = z.object({
  guid: z.guid(),
  status: z.object({
    value: z.enum(['ACTIVE', 'FINALIZED']),
    reason: z.string(),
    details: z.object({ error: z.string().optional() }),
  }),
});

/** Begins a rolling deployment. */
export async function deploy(lab: Lab, app: string, droplet?: string, metadata: object = {}) {
  const relationships = { app: { data: { guid: appOf(lab, app).guid } } };
  const chosen = droplet === undefined ? {} : { droplet: { guid: droplet } };
  const body = { strategy: 'rolling', ...chosen, relationships, metadata };
  const posted = await cf(lab, 'POST', '/v3/deployments', { body });
  expect(posted).toMatchObject({ status: 201, json: { status: { value: 'ACTIVE', reason: 'DEPLOYING' } } });
  return CfDeployment.parse(posted.json);
}

export async function deploymentEnded(lab: Lab, guid: string) {
  return await until('the deployment is over', async () => {
    const deployment = CfDeployment.parse((await cf(lab, 'GET', `/v3/deployments/${guid}`)).json);
    return deployment.status.value === 'FINALIZED' ? deployment.status : undefined;
  });
}

/** Restores the newest backup of an instance, over the service's own API. */
export async function restore(lab: Lab, name = 'orders', backup = 1): Promise<void> {
  const { json } = await curl(lab, 'POST', `${instanceOf(lab, name).v1}/backups/${backup}/restore`);
  const { id } = z.object({ id: z.int() }).parse(json);
  expect((await restoreEnded(lab, id, name)).status).toBe('done');
}

export async function audited(lab: LabLike, query: string): Promise<readonly string[]> {
  const { json } = await cf(lab, 'GET', `/v3/audit_events?per_page=5000&${query}`);
  return z
    .object({ resources: z.array(z.object({ type: z.string() })) })
    .parse(json)
    .resources.map(({ type }) => type);
}
