import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/lab/http/endpoint.ts';
import { endpointsOf, openApiOf } from '../../src/lab/http/endpoints.ts';
import { ERROR_BODIES } from '../../src/lab/http/wire.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ENDPOINTS, type Endpoint as Row, UNKNOWN, UNKNOWN_ID } from '../conformance/endpoints.ts';
import { call } from './helpers.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

/**
 * As service-api.md lists them; a new endpoint of the lab that is not there is a mistake, and the other way
 * round. The lab serves V0 and both ways to a download in every revision.
 */
function documented(revision: 61 | 62): readonly string[] {
  const rows: readonly Row[] = Object.values(ENDPOINTS);
  const own = rows.filter(({ base, revisions }) => base === 'v0' || revisions.includes(revision));
  return own.map(({ base, method, path }) => {
    const below = path(UNKNOWN).replaceAll(`/${UNKNOWN_ID}`, '/:');
    return `${method} ${base === 'v0' ? '/service-instances' : '/v1/instances'}/:${below}`;
  });
}

const pathOf = ({ base, path }: Endpoint, guid: string) =>
  `${base}/${guid}${path === '/' ? '' : path.replaceAll(/:\w+/g, '999')}`;

describe.each([
  [61, 'databases', { instances: [{ name: 'one' }] }],
  [62, 'databases', { instances: [{ name: 'one' }] }],
  [61, 'nothing but the API', { simulated: { sources: 1 } }],
  [62, 'nothing but the API', { simulated: { sources: 1 } }],
] as const)('revision %i on %s', (revision, _on, options) => {
  const endpoints = endpointsOf(revision);
  let lab: Lab;
  beforeAll(async () => {
    lab = await startTestLab({ revision, ...options });
  });
  afterAll(() => lab.close());

  test('has the endpoints of service-api.md, no more and no fewer', () => {
    const named = endpoints.map(
      ({ method, base, path }) => `${method} ${base}/:${path === '/' ? '' : path.replaceAll(/:\w+/g, ':')}`,
    );
    expect(named.toSorted()).toEqual(documented(revision).toSorted());
  });

  test.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s asks for a token and a right, and knows its instances',
    async (_name, endpoint) => {
      const { method, errors } = endpoint;
      const guid = lab.instances[0]?.guid ?? '';
      const refused = async (instance: string, status: number, options: { authorization?: string }) => {
        const answer = await call(lab, method, pathOf(endpoint, instance), options);
        expect(answer.status).toBe(status);
        expect(ERROR_BODIES[errors].strict().parse(answer.json)).toEqual(answer.json);
      };
      await refused(guid, 401, { authorization: '' });
      await refused(guid, 401, { authorization: 'bearer wrong' });
      await refused(NOWHERE, 401, { authorization: '' });
      await refused(NOWHERE, endpoint.unknownInstance, {});
      const authorization = await readFile(join(dirname(lab.tokenFile), 'token-readonly'), 'utf8');
      if (method !== 'GET') await refused(guid, 403, { authorization });
      expect(lab.calls()).toEqual([]);
    },
  );

  test('serves a description of its endpoints, without a token', async () => {
    const served = await call(lab, 'GET', '/openapi.json', { authorization: '' });
    expect(served.status).toBe(200);
    expect(served.json).toEqual(
      JSON.parse(JSON.stringify(openApiOf(revision, endpoints, lab.url, 'simulated' in options))),
    );
  });
});
