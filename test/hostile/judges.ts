import { expect } from 'vitest';
import type { Ended } from '../bench-kit/product.ts';
import { actingIn } from './acting.ts';
import { count } from './figures.ts';

/** Nothing acts in what a command wrote into a pipe. */
export function expectCalm({ stdout, stderr }: Ended, about: string): void {
  expect(actingIn(stdout), about).toBe('');
  expect(actingIn(stderr), about).toBe('');
  count('texts', { 'outputs of the product': 1 });
}

/** Every line is JSON in printable ASCII, and nothing acts in what stands beside it. */
export function expectJson({ stdout, stderr }: Ended, about: string): void {
  expect(stdout.search(/[^\n\x20-\x7e]/u), about).toBe(-1);
  for (const line of stdout.split('\n').slice(0, -1)) JSON.parse(line);
  expect(actingIn(stderr), about).toBe('');
  count('texts', { 'outputs of the product': 1 });
}
