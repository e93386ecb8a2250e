import { afterAll } from 'vitest';
import { storeContract } from '../contract.ts';
import { startCluster } from './cluster.ts';
import { postgresStore } from './postgres-store.ts';

const cluster = await startCluster();
afterAll(() => cluster.remove());

storeContract('PostgreSQL', () => postgresStore(cluster));
