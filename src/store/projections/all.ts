import type { Projection } from './projection.ts';

/** Every projection that a store keeps. */
export const PROJECTIONS: readonly Projection[] = [];
