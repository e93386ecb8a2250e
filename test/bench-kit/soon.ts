import { vi } from 'vitest';

/**
 * Waits until `look` throws no more. Patient: on a busy machine the second that Vitest waits would be a
 * timing.
 */
export function soon<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(look, { timeout: 100_000, interval: 10 });
}
