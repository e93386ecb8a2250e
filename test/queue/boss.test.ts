import { afterAll } from 'vitest';
import { startCluster } from '../bench-kit/postgres.ts';
import { freshBoss } from './boss-under-test.ts';
import { queueContract } from './contract.ts';

const cluster = await startCluster();
afterAll(() => cluster.remove());

queueContract('the queue in PostgreSQL', () => freshBoss(cluster));
