import { followUps } from './follow-ups.ts';
import { ledgers } from './ledgers.ts';
import { outbox } from './outbox.ts';
import { pendingCalls } from './pending-calls.ts';
import type { Projection } from './projection.ts';
import { runs } from './runs.ts';

/** Every projection that a store keeps. */
export const PROJECTIONS: readonly Projection[] = [runs, followUps, pendingCalls, ledgers, outbox];
