import { describe } from 'vitest';
import { memoryStore } from '../../src/keys/key-store.ts';
import { promisesOfAStore } from './store-contract.ts';

describe('the store in memory', () => {
  promisesOfAStore(async () => memoryStore());
});
