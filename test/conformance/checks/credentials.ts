import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, type Endpoint, isKeptBack, KEPT_BACK, successOf, UNKNOWN } from '../endpoints.ts';
import { ensure, expectError, expectStatus } from '../expect.ts';
import { newestBackup, readListing } from '../reads.ts';
import type { Subject } from '../subject.ts';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
const isRestore = ({ name }: Endpoint) => name === 'restore' || name === 'v0-restore';

/**
 * Section 5: who may ask. Every endpoint, without a token, with a wrong one, and with one that has too few
 * rights.
 */
export const CREDENTIALS: readonly Check[] = [
  ...endpoints.map((endpoint) => refused(endpoint, 'missing', 'without a token')),
  ...endpoints.map((endpoint) => refused(endpoint, 'wrong', 'with a wrong token')),
  ...endpoints.filter((endpoint) => endpoint.mutates && !isRestore(endpoint)).map(forbidden),
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
      return refusals.map((form) => `a token ${form} is refused; the document leaves it open`);
    },
  },
];

/** Behind the checks that make backups: they name one. */
export const RIGHTS_TO_RESTORE: readonly Check[] = endpoints.filter(isRestore).map(forbidden);

function refused(endpoint: Endpoint, kind: 'missing' | 'wrong', words: string): Check {
  return {
    id: `credentials.${kind}.${endpoint.name}`,
    section: '5 (3)',
    title: `${titleOf(endpoint)} ${words} is answered 401`,
    needs: needsOf(endpoint),
    run: async (subject) => {
      const authorization = kind === 'missing' ? undefined : 'bearer conformance-suite-wrong-token';
      const exchange = await call(subject.api.with({ authorization }), endpoint, UNKNOWN);
      if (exchange.status === 404 && isKeptBack(endpoint, exchange)) skip(KEPT_BACK);
      expectError(exchange, [401], endpoint.errors);
    },
  };
}

/**
 * A restore names a backup that exists, so that nothing but the right is missing; a server that is wrong
 * about rights restores it, hence the level.
 */
function forbidden(endpoint: Endpoint): Check {
  const named = isRestore(endpoint);
  return {
    id: `rights.${endpoint.name}`,
    section: '5 (3)',
    title: `${titleOf(endpoint)} with a token that lacks the right is answered 403`,
    needs: { ...needsOf(endpoint), ...(named ? { level: 'all' } : {}), readonlyToken: true },
    run: async (subject) => {
      if (subject.readonlyApi === undefined) skip('no read-only token');
      const backup = named ? await anyBackup(subject) : UNKNOWN.backup;
      if (backup === undefined) skip('no backup to name');
      const exchange = await call(subject.readonlyApi, endpoint, { ...UNKNOWN, backup });
      if (exchange.status !== 403 && isKeptBack(endpoint, exchange)) skip(KEPT_BACK);
      expectError(exchange, [403], endpoint.errors);
    },
  };
}

async function anyBackup(subject: Subject): Promise<number | undefined> {
  if (subject.revision !== 'v0') return (await newestBackup(subject))?.id;
  const { value } = await readListing(subject);
  return value.backups.findLast(({ backup_agent_task }) => backup_agent_task.status === 'done')?.id;
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
