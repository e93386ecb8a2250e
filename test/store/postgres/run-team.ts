import { installQueue } from '../../../src/queue/boss-schema.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import { startCluster } from '../../bench-kit/postgres.ts';

/*
 * `npm run team`: a PostgreSQL from the npm registry with an empty store and the queue of its workers, to
 * try out several people on one log. It runs until Ctrl-C, and then removes everything in it.
 */
const leaving = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => leaving.resolve());

const cluster = await startCluster({ fsync: true });
try {
  await cluster.query('create database team');
  const address = cluster.address('team');
  await initPostgresStore({ address, env: {} });
  await installQueue({ address, env: {} });
  process.stdout.write(`export LIFEBOAT_STORE='${address}'\n`);
  process.stderr.write(
    'paste the line above into each terminal; give each person a LIFEBOAT_HOME of their own\n',
  );
  process.stderr.write('Ctrl-C ends it and removes everything that it made\n');
  // A promise alone does not keep a process alive.
  const awake = setInterval(() => undefined, 2 ** 30);
  await leaving.promise;
  clearInterval(awake);
} finally {
  await cluster.remove();
}
