import { type Check, PASS, passWith, skip } from '../check.ts';
import { call, ENDPOINTS, type Endpoint, successOf, UNKNOWN } from '../endpoints.ts';
import { ensure, expectError, expectStatus } from '../expect.ts';
import { newestBackup } from '../reads.ts';
import type { Subject } from '../subject.ts';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);

/** Section 5: who may ask. Every endpoint, without a token, with a wrong one, and with one that has too few rights. */
export const CREDENTIALS: readonly Check[] = [
  ...endpoints.map((endpoint) => refused(endpoint, 'missing', 'without a token')),
  ...endpoints.map((endpoint) => refused(endpoint, 'wrong', 'with a wrong token')),
  ...endpoints.filter(({ mutates }) => mutates).map(forbidden),
  {
    id: 'credentials.scheme',
    section: '5 (1)',
    title: 'the token is taken with a scheme word before it, or bare',
    needs: { revisions: [61, 62, 'v0'] },
    run: async (subject) => {
      const forms = { bare: subject.token, 'with a scheme word': `bearer ${subject.token}` };
      const refusals: string[] = [];
      for (const [form, authorization] of Object.entries(forms)) {
        const endpoint = subject.revision === 'v0' ? ENDPOINTS.v0List : ENDPOINTS.overview;
        const exchange = await call(subject.api.with({ authorization }), endpoint, UNKNOWN);
        if (exchange.status === 401) refusals.push(form);
        else expectStatus(exchange, successOf(endpoint, subject.revision));
      }
      ensure(refusals.length < 2, 'a token that was taken at the start is refused in both forms');
      return passWith(...refusals.map((form) => `a token ${form} is refused; the document leaves it open`));
    },
  },
];

function refused(endpoint: Endpoint, kind: 'missing' | 'wrong', words: string): Check {
  return {
    id: `credentials.${kind}.${endpoint.name}`,
    section: '5 (3)',
    title: `${titleOf(endpoint)} ${words} is answered 401`,
    needs: needsOf(endpoint),
    run: async (subject) => {
      const authorization = kind === 'missing' ? undefined : 'bearer conformance-suite-wrong-token';
      const exchange = await call(subject.api.with({ authorization }), endpoint, UNKNOWN);
      expectError(exchange, [401], endpoint.errors);
      return PASS;
    },
  };
}

/**
 * A restore names a backup that exists, so that nothing but the right is missing; a server that is wrong about rights restores it,
 * hence the level.
 */
function forbidden(endpoint: Endpoint): Check {
  const named = endpoint.name === 'restore' || endpoint.name === 'v0-restore';
  return {
    id: `rights.${endpoint.name}`,
    section: '5 (3)',
    title: `${titleOf(endpoint)} with a token that lacks the right is answered 403`,
    needs: { ...needsOf(endpoint), ...(named ? { level: 'all' } : {}), readonlyToken: true },
    run: async (subject) => {
      if (subject.readonlyApi === undefined) return skip('no read-only token');
      const backup = named ? await anyBackup(subject) : UNKNOWN.backup;
      const exchange = await call(subject.readonlyApi, endpoint, { ...UNKNOWN, backup });
      expectError(exchange, [403], endpoint.errors);
      return PASS;
    },
  };
}

async function anyBackup(subject: Subject): Promise<number> {
  if (subject.revision === 'v0') return UNKNOWN.backup;
  return (await newestBackup(subject))?.id ?? UNKNOWN.backup;
}

function needsOf(endpoint: Endpoint): NonNullable<Check['needs']> {
  return {
    revisions: endpoint.revisions,
    ...(endpoint.level === 'none' ? {} : { level: endpoint.level }),
    ...(endpoint.base === 'v0' ? { v0: true } : {}),
    ...(endpoint.archiving === true ? { archiving: true } : {}),
  };
}

function titleOf({ base, method, name }: Endpoint): string {
  return `${base === 'v0' ? 'V0' : 'V1'} ${method} (${name})`;
}
