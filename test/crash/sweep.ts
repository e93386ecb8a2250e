import type { Product } from '../e2e/product.ts';
import { type Point, runTrial, type Trial } from './trial.ts';

export interface Sweep {
  readonly trials: readonly Trial[];
  /** How long an undisturbed rotation takes, from the start of its process to the end. Milliseconds. */
  readonly spanMs: number;
}

/**
 * Tries `points` instants, uniform over the time that an undisturbed rotation takes, and then the `more` points. Everything that is
 * drawn follows from the seed. Two trials run at a time.
 */
export async function sweep(
  product: Product,
  options: { readonly points: number; readonly seed: number; readonly more?: readonly Point[] },
  onTrial: (trial: Trial) => void = () => undefined,
): Promise<Sweep> {
  const spanMs = await measure(product);
  const draw = randomFrom(options.seed);
  const instants = Array.from(
    { length: options.points },
    (): Point => ({ kind: 'instant', ms: draw() * spanMs }),
  );
  const queue = [...instants, ...(options.more ?? [])].map((point) => ({ point, seed: draw() * 2 ** 32 }));
  const trials: Trial[] = [];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const trial = await runTrial(product, next.point, randomFrom(next.seed), spanMs);
      trials.push(trial);
      onTrial(trial);
    }
  };
  // Each worker clears away what it has begun, also when the other one fails.
  const ends = await Promise.allSettled([work(), work()]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return { trials, spanMs };
}

/** The second of two: the first also fills the compile cache. Two at a time, as the trials run. */
async function measure(product: Product): Promise<number> {
  const never: Point = { kind: 'instant', ms: 600_000 };
  let spanMs = 0;
  for (let round = 0; round < 2; round += 1) {
    const runs = await Promise.all([0, 1].map(() => runTrial(product, never, () => 1, 0)));
    const problems = runs.flatMap((run) => run.problems);
    if (problems.length > 0) throw new Error(`an undisturbed rotation fails: ${problems.join('; ')}`);
    spanMs = Math.max(...runs.map(({ firstMs }) => firstMs));
  }
  return spanMs;
}

/** Mulberry32: small, fast, and the same everywhere for the same seed. Gives numbers in [0, 1). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
