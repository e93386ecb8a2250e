import { Secret } from '../../base/secret.ts';
import type { BindingParameters } from '../platform.ts';

const LEAST = 4;
const DEEPEST = 20;

/** Every text in binding parameters, so that it can be blanked where the platform or its broker quotes it. */
export function secretsIn(parameters: BindingParameters | undefined): Secret[] {
  return textsIn(parameters, 0).map((text) => new Secret(text));
}

function textsIn(value: unknown, depth: number): string[] {
  // Shorter ones are words like `rw`: blanking them would blank the sentence.
  if (typeof value === 'string') return value.length < LEAST ? [] : [value];
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}
