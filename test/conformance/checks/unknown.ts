import type { Check } from '../check.ts';
import { call, ENDPOINTS, type Endpoint, isKeptBack, UNKNOWN, UNKNOWN_GUID } from '../endpoints.ts';
import { expectError, expectRefusal } from '../expect.ts';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);

/** Section 7: ids that name nothing. */
export const UNKNOWNS: readonly Check[] = [
  ...endpoints.flatMap((endpoint) =>
    endpoint.unknownInstance === undefined ? [] : [unknownInstance(endpoint, endpoint.unknownInstance)],
  ),
  unknownThing(ENDPOINTS.getBackup, 404, 'backup'),
  unknownThing(ENDPOINTS.getRestore, 404, 'restore'),
  unknownThing(ENDPOINTS.restore, 404, 'backup'),
  unknownThing(ENDPOINTS.v1Download, 412, 'backup'),
  unknownThing(ENDPOINTS.download, 412, 'backup'),
  unknownThing(ENDPOINTS.v0Download, 412, 'backup'),
  unknownThing(ENDPOINTS.v0Restore, 412, 'backup'),
  {
    id: 'unknown.no-number',
    section: '4.1 (2)',
    title: 'an id of a backup or a restore that is no whole number is refused',
    run: async ({ api }) => {
      for (const path of ['/backups/first', '/backups/1.5', '/restores/first']) {
        expectRefusal(await api.v1('GET', path));
      }
    },
  },
];

/** The path is as long as any; nothing lives there, so even a call that changes things is harmless. */
function unknownInstance(endpoint: Endpoint, status: number): Check {
  return {
    id: `unknown.instance.${endpoint.name}`,
    section: endpoint.base === 'v0' ? '4.4' : '7 (4)',
    title: `${endpoint.method} (${endpoint.name}) of an unknown instance is answered ${status}`,
    needs: needsOf(endpoint),
    run: async (subject) => {
      const exchange = await call(subject.api.with({ instance: UNKNOWN_GUID }), endpoint, UNKNOWN);
      if (!isKeptBack(endpoint, exchange)) expectError(exchange, [status], endpoint.errors);
    },
  };
}

function unknownThing(endpoint: Endpoint, status: number, thing: 'backup' | 'restore'): Check {
  return {
    id: `unknown.${thing}.${endpoint.name}`,
    section: status === 412 ? '4.3' : '7 (4)',
    title: `${endpoint.method} (${endpoint.name}) of an unknown ${thing} is answered ${status}`,
    needs: needsOf(endpoint),
    run: async (subject) => {
      expectError(await call(subject.api, endpoint, UNKNOWN), [status], endpoint.errors);
    },
  };
}

function needsOf({ revisions, method, base }: Endpoint): NonNullable<Check['needs']> {
  return {
    revisions,
    ...(method === 'GET' ? {} : { level: 'safe' }),
    ...(base === 'v0' ? { v0: true } : {}),
  };
}
