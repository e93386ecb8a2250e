import { describe, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';

describe('a drill of a plan', () => {
  const product = builtProduct({ cheapVault: true });

  test('loses a region of eight instances in three tiers, recovers them with a plan, and compares every row', {
    timeout: 600_000,
  }, async (context) => {
    const { expect } = context;
    const machine = openMachine(product, context);
    const { code, stdout, stderr } = await machine.run('drill', '--plan', '--auto', '--json');
    expect(code, stderr).toBe(0);
    const { proven, chapters } = JSON.parse(stdout) as {
      readonly proven: boolean;
      readonly chapters: readonly {
        readonly checks: readonly object[];
        readonly tables: readonly object[];
      }[];
    };
    expect(proven).toBe(true);
    expect(chapters.map(({ checks, tables }) => [checks.length, tables.length])).toEqual([[8, 32]]);
  });
});
