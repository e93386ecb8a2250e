import { OF_CHANGING } from './of-changing.ts';
import { OF_READING } from './of-reading.ts';
import { OF_RESTORING } from './of-restoring.ts';
import { OF_RIGHTS } from './of-rights.ts';
import { OF_V0 } from './of-v0.ts';
import type { Mutation } from './server.ts';

/** Every way in which a server is wrong that the suite has promised to find. */
export const MUTATIONS: readonly Mutation[] = [
  ...OF_RIGHTS,
  ...OF_READING,
  ...OF_CHANGING,
  ...OF_V0,
  ...OF_RESTORING,
];
