import { setTimeout as pause } from 'node:timers/promises';
import type { Query } from '../engine/engine.ts';
import { placeOrder } from './shop.ts';

/** After a refused order (the database is down, or being restored) the shop waits this long. */
const RETRY_MS = 250;

/** Places orders, one after the other, until the signal; an order that fails is not placed again. */
export async function keepOrdering(query: Query, perSecond: number, signal: AbortSignal): Promise<void> {
  if (perSecond <= 0) return;
  while (!signal.aborted) {
    const placed = await placeOrder(query).then(
      () => true,
      () => false,
    );
    await pause(placed ? 1000 / perSecond : RETRY_MS, undefined, {
      signal,
      ref: false,
    }).catch(() => undefined);
  }
}
