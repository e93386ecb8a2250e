import { onTestFinished } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { addressFrom } from '../../src/service/address.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { openService, type ServiceOptions } from '../../src/service/open.ts';
import type { Revision } from '../../src/service/revisions.ts';
import { type Respond, startFaultServer } from './fault-server.ts';

export const TOKEN_WORD = 'tok-3f9a6c1d8e2b7045';

type ClientOptions = Partial<ServiceOptions> & { readonly revision?: Revision };

/** A client of the instance `i1` at an origin, with quick retries, closed with the test. */
export function clientAt(origin: string, options: ClientOptions = {}): ServiceClient {
  const { revision = 62, limits, ...rest } = options;
  const client = openService(addressFrom(`${origin}/service-instances/i1`, revision), {
    token: async () => new Secret(`bearer ${TOKEN_WORD}`),
    ...rest,
    limits: { retryBaseMs: 5, ...limits },
  });
  onTestFinished(client.close);
  return client;
}

/** A fault server and a client of it, for one test. */
export async function serve(respond: Respond, options: ClientOptions = {}) {
  const server = await startFaultServer(respond);
  onTestFinished(server.close);
  return { server, client: clientAt(server.origin, options) };
}

/** The rejection of a promise; a promise that resolves fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it should have been rejected');
}
