import { afterAll } from 'vitest';
import { startCluster } from '../../bench-kit/postgres.ts';
import { storeContract } from '../contract.ts';
import { postgresStore } from './postgres-store.ts';

const cluster = await startCluster();
afterAll(() => cluster.remove());

storeContract('PostgreSQL', () => postgresStore(cluster));
