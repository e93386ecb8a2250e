import { availableParallelism } from 'node:os';
import type { Product } from '../bench-kit/product.ts';
import { randomFrom } from '../random.ts';
import { seedOf } from './draw.ts';
import type { Point } from './points.ts';
import type { Scene } from './scenes.ts';
import { openStage, type Stage } from './stage.ts';
import type { Survey } from './survey.ts';
import { runTrial, type Trial } from './trial.ts';

/** A trial that is still to be made. */
export interface Task {
  readonly scene: Scene;
  readonly point: Point;
  readonly survey: Survey;
}

/**
 * Trials at a time. They wait for the ends of leases and in-flight windows for four tenths of their time: as
 * many as there are cores would leave the cores idle.
 */
const WORKERS = availableParallelism() + 2;
/** How many stages are set up ahead, so that no trial waits until a service is old enough. */
const AHEAD_OF_AGE = 10;

/** What a sweep came to. */
export interface Swept {
  readonly trials: readonly Trial[];
  /** Trials that could not be made, mostly because their stage could not be set up. They prove nothing. */
  readonly unmade: readonly { readonly point: Point; readonly why: string }[];
}

/**
 * Makes every trial, several at a time. Each draws from a seed of its own, made of `seed` and its name. A
 * trial that cannot be made keeps no other from being made. Begins no more when `stop` says so, and gives
 * what there is.
 */
export async function sweep(
  product: Product,
  tasks: readonly Task[],
  seed: number,
  onTrial: (trial: Trial) => void,
  stop: AbortSignal,
): Promise<Swept> {
  const trials: Trial[] = [];
  const unmade: Swept['unmade'][number][] = [];
  const waiting = [...tasks];
  const ahead: { readonly task: Task; readonly stage: Promise<Stage> }[] = [];
  const fill = () => {
    while (waiting[0] !== undefined && ahead.length < (waiting[0].scene.ageMs > 0 ? AHEAD_OF_AGE : 1)) {
      const task = waiting.shift() as Task;
      const stage = openStage(product, task.scene, task.point.accident);
      // The caller gets the rejection.
      stage.catch(() => undefined);
      ahead.push({ task, stage });
    }
  };
  const work = async () => {
    while (!stop.aborted) {
      fill();
      const next = ahead.shift();
      if (next === undefined) return;
      fill();
      const { point, survey } = next.task;
      try {
        const stage = await next.stage;
        try {
          const chances = { draw: randomFrom(seedOf(seed, point.name)), spanMs: survey.spanMs };
          const trial = await runTrial(stage, point, survey.wanted, chances);
          trials.push(trial);
          onTrial(trial);
        } finally {
          await stage.close();
        }
      } catch (thrown) {
        unmade.push({
          point,
          why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
        });
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  await Promise.allSettled(ahead.map(async ({ stage }) => (await stage).close()));
  return { trials, unmade };
}

/** Does something for each item, several at a time; gives the results in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const one = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  const ends = await Promise.allSettled(Array.from({ length: WORKERS }, one));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return results;
}
