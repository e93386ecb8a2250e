import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { runProductHere } from '../bench-kit/product-here.ts';

const FOLDER = resolve(import.meta.dirname, '../../schemas');

test('the built program prints each JSON Schema of the package, character by character', async () => {
  const product = builtProduct({ cheapVault: true });
  const print = (...args: string[]) => runProductHere(product, args, {});
  const listed = JSON.parse((await print('schema', '-o', 'json')).stdout) as { items: { name: string }[] };
  const names = listed.items.map(({ name }) => name.replace(/^lifeboat\.(.+)\/1$/u, '$1'));
  expect(names.toSorted()).toEqual(
    readdirSync(FOLDER)
      .map((file) => file.replace(/\.json$/u, ''))
      .toSorted(),
  );
  for (const name of names) {
    const { stdout, code } = await print('schema', name);
    expect(code, name).toBe(0);
    expect(stdout, name).toBe(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  }
});
