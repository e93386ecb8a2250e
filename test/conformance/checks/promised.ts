import type { Check } from '../check.ts';
import { ENDPOINTS, type Endpoint } from '../endpoints.ts';
import { ask } from '../reads.ts';

/** A check for each endpoint that says in its row what its answer holds. */
export const PROMISED: readonly Check[] = Object.values<Endpoint>(ENDPOINTS).flatMap((endpoint) => {
  const { promises, revisions } = endpoint;
  if (promises === undefined) return [];
  const { shape, ...words } = promises;
  const run = async (subject: Parameters<Check['run']>[0]) => {
    await ask(subject, endpoint, shape);
  };
  return [{ ...words, needs: { revisions }, run }];
});
