import type { ConstructorOptions, PgBoss } from 'pg-boss';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { named, parseAddress } from '../store/postgres/address.ts';
import { createLink, type Link, type Session } from '../store/postgres/link.ts';
import { persist, refused, sqlState, UNIQUE } from '../store/postgres/trouble.ts';
import { dbOf, noQueue, SCHEMA } from './boss-schema.ts';
import type { QueueOptions } from './queue.ts';
import { createReport } from './trouble.ts';

export interface BossOptions extends QueueOptions {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whose schedules these are; default: the name of this host. */
  readonly host?: string;
}

/** The queue's connections to the database of a store, made on demand and again after they break. */
export interface BossLink {
  /** A pg-boss that uses them, and has not started. */
  boss(options?: ConstructorOptions): Promise<PgBoss>;
  /** Retried for a while if the store cannot be reached, so it may run twice. */
  readonly query: Session['query'];
  /** Turns what is thrown into our errors; no others leave the queue. */
  inWords<T>(work: () => Promise<T>): Promise<T>;
  readonly report: (thrown: unknown) => void;
  close(): Promise<void>;
}

/** Milliseconds: how long an unreachable store is retried, and the limit of a statement. */
const [PATIENCE, STATEMENT] = [20_000, 30_000];

/**
 * Two, since a slow statement of pg-boss (housekeeping) must not delay the reports of running jobs: a job
 * that is not reported goes to another worker.
 */
const CONNECTIONS = 2;

export function createBossLink(
  { address: url, env, ...options }: BossOptions,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): BossLink {
  const address = parseAddress(url, env);
  const report = createReport(options);
  const links = Array.from({ length: readOnly ? 1 : CONNECTIONS }, () =>
    createLink({
      ...{ address, env, name: 'lifeboat queue', readOnly },
      ...{ statementTimeout: STATEMENT, idleTimeout: STATEMENT },
    }),
  );
  const use = leastUsed(links);
  const db = dbOf({ run: (text, values) => use((session) => session.run(text, values)) });
  const words = (error: unknown): LifeboatError => {
    if (error instanceof LifeboatError) return error;
    const state = sqlState(error);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (/^(?:3F000|42P01|42883)$/u.test(state ?? '') || code === 'PGBOSS_QUEUE_NOT_FOUND') return noQueue();
    if (state === undefined) return troubleOf(error);
    const { user, database, servers } = address;
    return refused(error, { user, database, server: servers.map(named).join(', ') });
  };
  return {
    async boss(more = {}) {
      const { PgBoss } = await import('pg-boss');
      const boss = new PgBoss({ db, schema: SCHEMA, migrate: false, schedule: false, ...more });
      // pg-boss copies errors, and the copies are not instances of Error.
      boss.on('error', (error: Error & { readonly code?: string }) => {
        // Two workers asked for two jobs of one run: one of them got it.
        if (error.code !== UNIQUE) report(troubleOf(error));
      });
      return boss;
    },
    query: (sql, values) => persist(() => use((session) => session.query(sql, values)), PATIENCE),
    inWords: (work) =>
      work().catch((error: unknown) => {
        throw words(error);
      }),
    report: (thrown) => report(words(thrown)),
    async close() {
      await Promise.all(links.map((link) => link.close()));
    },
  };
}

/** Uses the link that fewest wait for. */
function leastUsed(links: readonly Link[]): Link['use'] {
  const waiting = links.map((link) => ({ link, count: 0 }));
  return async (work) => {
    const chosen = waiting.reduce((least, one) => (one.count < least.count ? one : least));
    chosen.count += 1;
    try {
      return await chosen.link.use(work);
    } finally {
      chosen.count -= 1;
    }
  };
}

function troubleOf(error: unknown): LifeboatError {
  const why = (error as { readonly shortMessage?: unknown }).shortMessage ?? (error as Error).message;
  return new LifeboatError('queue.trouble', `the queue has trouble: ${show(String(why), 200)}`, {
    hints: ['nothing is lost: what may go on is found again by a look through the journal'],
  });
}
