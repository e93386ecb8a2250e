import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Product } from '../bench-kit/product.ts';
import { type Point, pointsOf, type Way } from './points.ts';
import type { Scene } from './scenes.ts';
import { openStage } from './stage.ts';
import { startOn } from './start.ts';
import { callsIn, canTrace, recording } from './strace.ts';
import { startToStrike } from './strike.ts';
import { runCalmly } from './trial.ts';
import type { Outcome } from './verdict.ts';

/** What an undisturbed run of a scene shows: how it ends, and every point on its way. */
export interface Survey {
  readonly scene: Scene;
  readonly wanted: Outcome;
  readonly points: readonly Point[];
  /** How long a run takes without a tracer, about. Milliseconds. */
  readonly spanMs: number;
}

/** A tracer makes a run longer by about this factor. */
const SLOWER = 1.7;

/**
 * Runs a headless scene once; without strace(1) only the requests are found. Throws when the run does not
 * end well.
 */
export async function surveyOf(product: Product, scene: Scene): Promise<Survey> {
  return withTrace(async (path, isTraced) => {
    const { stage, spanMs, ...wanted } = await runCalmly(product, scene, isTraced ? recording(path) : []);
    const way: Way = {
      calls: isTraced ? callsIn(path, stage.bench.folder) : [],
      wires: stage.wires.map((wire) => wire.seen()),
    };
    return {
      scene,
      wanted,
      points: pointsOf(scene.name, way),
      spanMs: isTraced ? spanMs / SLOWER : spanMs,
    };
  });
}

/**
 * Every point on the way of the process that resumes after `first`; none when that leaves nothing to resume.
 */
export async function pointsAfter(product: Product, scene: Scene, first: Point): Promise<readonly Point[]> {
  return withTrace(async (path, isTraced) => {
    const stage = await openStage(product, scene);
    try {
      await startToStrike(stage, scene.dress, stage.words, first.blow).done;
      for (const wire of stage.wires) wire.arm();
      const { code } = await startOn(stage, 'headless', ['resume'], isTraced ? recording(path) : []).ended;
      if (code === null || code === 2) return [];
      const calls = isTraced ? callsIn(path, stage.bench.folder) : [];
      return pointsOf(scene.name, { calls, wires: stage.wires.map((wire) => wire.seen()) });
    } finally {
      await stage.close();
    }
  });
}

async function withTrace<T>(work: (path: string, isTraced: boolean) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-crash-'));
  try {
    return await work(join(folder, 'trace'), canTrace());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
