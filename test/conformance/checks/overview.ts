import type { Check } from '../check.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { ensure } from '../expect.ts';
import { expectPast } from '../follow.ts';
import { ask } from '../reads.ts';
import { Overview } from '../shapes.ts';

const TIMES = Overview.pick({ created_at: true, updated_at: true });

/** Sections 2.4 and 4.1 (12). */
export const OVERVIEW: readonly Check[] = [
  {
    id: 'overview.times',
    section: '2.4',
    title: 'the instance was created before it was last updated, and neither in the future',
    run: async (subject) => {
      const { value, exchange } = await ask(subject, ENDPOINTS.overview, TIMES);
      const [created, updated] = [value.created_at, value.updated_at].map(Date.parse) as [number, number];
      ensure(created <= updated, 'created_at is later than updated_at', exchange);
      expectPast('updated_at', updated, exchange);
    },
  },
];
