import * as z from 'zod';
import { backupEndpoints, backupsConfigEndpoints, downloadEndpoints } from './backups.ts';
import type { Answer, Endpoint, Revision } from './endpoint.ts';
import { disasterRecoveryEndpoints, restoreEndpoints } from './restores.ts';
import { COOKIE } from './tokens.ts';
import { overviewEndpoints, upkeepEndpoints } from './upkeep.ts';
import { v0Endpoints } from './v0.ts';
import { ERROR_BODIES } from './wire.ts';

export function endpointsOf(revision: Revision): readonly Endpoint[] {
  return [
    ...overviewEndpoints,
    ...backupEndpoints,
    ...restoreEndpoints,
    ...backupsConfigEndpoints,
    ...disasterRecoveryEndpoints,
    ...upkeepEndpoints,
    ...v0Endpoints,
    ...downloadEndpoints,
  ].filter((endpoint) => endpoint.answers[revision] !== undefined);
}

// By hand over zod's JSON Schemas: Hono's libraries describe routes singly; ours are data per revision.

type Json = { readonly [key: string]: unknown };

const WORDS: Readonly<Record<number, string>> = {
  200: 'Processed successfully',
  201: 'Scheduled',
  202: 'Accepted for processing, not completed',
  206: 'A part of the file',
  401: 'No valid authentication credentials',
  403: 'Lacks the required right',
  302: 'To the sign-on, which sets a session cookie and leads back',
  404: 'Entity not found',
  409: 'The same action is already in progress',
  413: 'The body is too large',
  412: 'Instance id or backup id does not exist or match',
  415: 'The body is not sent as application/json',
  416: 'The file has fewer bytes',
  422: 'Invalid parameters',
  500: 'Unexpected error while handling the request',
  502: 'Error in upstream communication',
  504: 'Timeout in upstream communication',
};

/** Section 7 item 4: these any endpoint may answer with. */
const ALWAYS = [401, 403, 500, 502, 504] as const;

const VERSION: Readonly<Record<Revision, string>> = { 61: '61.0.0', 62: '62.0.2' };

/** OpenAPI 3.1 for programs, from the schemas that parse requests and shape answers. */
export function openApiOf(
  revision: Revision,
  endpoints: readonly Endpoint[],
  origin: string,
  isSimulated = false,
): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const answer = endpoint.answers[revision];
    if (answer === undefined) continue;
    const path = `${endpoint.base}/{instance_id}${endpoint.path === '/' ? '' : inBraces(endpoint.path)}`;
    const operations = paths[samePath(paths, path)] ?? {};
    operations[endpoint.method.toLowerCase()] = operationOf(endpoint, answer, revision, path);
    paths[samePath(paths, path)] = operations;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Instance Management Public API',
      version: VERSION[revision],
      description: isSimulated
        ? 'A simulated lab of this service on this machine, without databases: it restores nothing.'
        : 'A lab of this service on this machine, over real databases.',
    },
    servers: [{ url: origin }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'A bearer token, with or without the word before it.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: COOKIE,
          description: 'Set by the sign-on, for V0 alone.',
        },
      },
    },
  };
}

function operationOf(endpoint: Endpoint, answer: Answer, revision: Revision, path: string): Json {
  const { body, query, examples, errors } = endpoint;
  const refused = new Set([
    ...ALWAYS,
    endpoint.unknownInstance,
    ...(endpoint.path.includes(':') && endpoint.errors === 'v1' ? [404] : []),
    ...(endpoint.refuses[revision] ?? []),
    ...(body === undefined ? [] : [413, 415]),
  ]);
  const refusal = { content: { 'application/json': { schema: schemaOf(ERROR_BODIES[errors], 'output') } } };
  const answers = [
    [answer.status, contentOf(answer, examples?.answer)],
    ...(answer.body === undefined ? [[206, contentOf(answer, undefined)]] : []),
    ...(endpoint.base === '/service-instances' && endpoint.method === 'GET' ? [[302, {}]] : []),
    ...[...refused]
      .toSorted((a, b) => a - b)
      .map((status) => [status, status === 502 ? byRouter(refusal) : refusal]),
  ] as [number, Json][];
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    ...(endpoint.base === '/service-instances'
      ? { deprecated: true, security: [{ token: [] }, { session: [] }] }
      : {}),
    parameters: [...pathParameters(path), ...(query === undefined ? [] : queryParameters(query))],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse(undefined).success,
            content: {
              'application/json': { schema: schemaOf(body, 'input'), ...exampleOf(examples?.request) },
            },
          },
        }),
    responses: Object.fromEntries(
      answers.map(([status, rest]) => [status, { description: WORDS[status] ?? '', ...rest }]),
    ),
  };
}

/** A router in front of the service answers with a page of its own. */
function byRouter({ content }: { readonly content: Json }): Json {
  return { content: { ...content, 'text/html': {} } };
}

function contentOf({ body }: Answer, example: unknown): Json {
  if (body === undefined) return { content: { 'application/octet-stream': {} } };
  return {
    content: {
      'application/json': { schema: schemaOf(body, 'output'), ...exampleOf(trimmed(body, example)) },
    },
  };
}

function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value };
}

function trimmed(body: z.ZodType, example: unknown): unknown {
  return example === undefined ? undefined : body.parse(example);
}

/** Without the dialect, which the whole description has by OpenAPI 3.1. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  return rest;
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(?<name>\w+)\}/gu)].map(({ groups }) => ({
    name: groups?.['name'] ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType): readonly Json[] {
  const { properties = {} } = schemaOf(query, 'input') as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

function inBraces(path: string): string {
  return path.replace(/:(?<name>\w+)/gu, '{$<name>}');
}

/** Templates that differ only in the names of parameters are one path (OpenAPI 3.1, Paths Object). */
function samePath(paths: Record<string, unknown>, path: string): string {
  const shape = (template: string) => template.replace(/\{\w+\}/gu, '{}');
  return Object.keys(paths).find((known) => shape(known) === shape(path)) ?? path;
}
