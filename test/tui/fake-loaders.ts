import type { Loaders } from '../../src/view/app/sources.ts';

/** Loaders of which only these ever answer. */
export function loadersWith(some: Partial<Loaders>): Loaders {
  const never = () => new Promise<void>(() => undefined);
  return new Proxy(some as Loaders, {
    get: (all, name) => Reflect.get(all, name) ?? never,
  });
}
