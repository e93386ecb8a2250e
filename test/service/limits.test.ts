import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/service/limits.ts';

test('a read may take two minutes before the answer, and as long again for it', () => {
  expect(DEFAULT_LIMITS.headersMs).toBeGreaterThanOrEqual(120_000);
  expect(DEFAULT_LIMITS.readMs).toBeGreaterThanOrEqual(2 * DEFAULT_LIMITS.headersMs);
});
