import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpointsOf, openApiOf } from '../../src/lab/http/endpoints.ts';

const Operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.object({ name: z.string(), in: z.enum(['path', 'query']) }).loose()),
  requestBody: z
    .object({ required: z.boolean(), content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) })
    .optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string().min(1),
      content: z
        .record(
          z.string(),
          z.object({
            schema: z.record(z.string(), z.unknown()).optional(),
            example: z.unknown().optional(),
          }),
        )
        .optional(),
    }),
  ),
});
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

const describedIn = (revision: 61 | 62) =>
  Description.parse(
    JSON.parse(JSON.stringify(openApiOf(revision, endpointsOf(revision), 'http://127.0.0.1:1'))),
  );

describe.each([61, 62] as const)('the description of revision %i', (revision) => {
  test('is valid OpenAPI 3.1, and a broken copy of it is not', async () => {
    const validator = new Validator();
    expect(await validator.validate(describedIn(revision))).toEqual({ valid: true });
    const broken = { ...describedIn(revision), info: { title: 'no version' } };
    expect(await validator.validate(broken)).toMatchObject({ valid: false });
  });

  test('has each endpoint once, with every status that service-api.md lists for it', () => {
    const description = describedIn(revision);
    const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
    expect(operations).toHaveLength(endpointsOf(revision).length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, responses } of operations) {
      expect(Object.keys(responses), operationId).toEqual(
        expect.arrayContaining(['401', '403', '500', '502', '504']),
      );
      expect(responses['404'] ?? responses['412'], operationId).toBeDefined();
    }
  });

  test('declares the parameters of each path, and no others', () => {
    for (const [path, methods] of Object.entries(describedIn(revision).paths)) {
      const template = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { operationId, parameters } of Object.values(methods)) {
        const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
        expect(declared, operationId).toEqual(template);
      }
    }
  });

  test('describes the sign-on before V0, and the page of a router', () => {
    const { paths } = describedIn(revision);
    const listing = paths['/service-instances/{instance_id}/backups']?.['get'];
    expect(Object.keys(listing?.responses ?? {})).toContain('302');
    expect(listing?.responses['502']?.content).toHaveProperty('text/html');
  });

  test('gives examples that fit their own schemas', () => {
    for (const methods of Object.values(describedIn(revision).paths)) {
      for (const { operationId, responses, requestBody } of Object.values(methods)) {
        const contents = [
          ...Object.values(responses).map(({ content }) => content?.['application/json']),
          requestBody?.content['application/json'],
        ];
        for (const content of contents) {
          if (content === undefined || !('example' in content)) continue;
          const schema = z.fromJSONSchema(content.schema as Record<string, unknown>);
          expect(schema.safeParse(content['example']).error, operationId).toBeUndefined();
        }
      }
    }
  });
});

test('the revisions differ as section 4.2 says', () => {
  const [old, present] = [describedIn(61).paths, describedIn(62).paths];
  const at = (paths: typeof old, path: string, method: string) =>
    Object.keys(paths[`/v1/instances/{instance_id}${path}`]?.[method]?.responses ?? {});
  expect(at(old, '/backups', 'post')).toEqual(expect.arrayContaining(['202', '409']));
  expect(at(present, '/backups', 'post')).toContain('200');
  expect(at(present, '/backups', 'post')).not.toContain('409');
  expect(at(old, '/pitr', 'get')).toContain('200');
  expect(at(present, '/pitr', 'get')).toContain('202');
  expect(at(present, '/pitr', 'get')).not.toContain('200');
  const only = (paths: typeof old, others: typeof old) =>
    Object.keys(paths).filter((path) => !(path in others));
  expect(only(old, present)).toEqual([
    '/v1/instances/{instance_id}/broker/edit',
    '/v1/instances/{instance_id}/backups/{id}/download',
  ]);
  expect(only(present, old)).toEqual(['/v1/instances/{instance_id}/pitr/restore']);
});
