import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { pack } from 'tar-stream';
import type { HostPlan } from '../host.ts';
import { InstanceMetrics } from '../metrics.ts';
import { chances } from '../random.ts';
import { SharedArchives } from './shared-archives.ts';
import { SimulatedData } from './simulated-data.ts';

/** For people, wherever a lab says what it runs on. */
const SIMULATED = 'simulated: no databases, and nothing is restored';

interface SimulatedHostPlan extends HostPlan {
  /** From here on tasks take their time: the lab is ready. */
  begin(): void;
}

/**
 * A host without databases: instances are a few objects in memory. `taskMs` is how long a task takes, at
 * least and at most, in real milliseconds; the seed decides where between.
 */
export function simulatedHost(options: {
  readonly taskMs?: readonly [least: number, most: number];
  readonly seed?: number;
}): SimulatedHostPlan {
  const { taskMs = [0, 0], seed = 1 } = options;
  const [least, most] = taskMs;
  const next = chances(seed);
  let hasBegun = false;
  return {
    user: undefined,
    begin: () => {
      hasBegun = true;
    },
    open: async ({ home, now, signal }) => {
      const content = await contentOfBackups();
      const takeTime = async () => {
        if (hasBegun && most > 0)
          await pause(least + next() * (most - least), undefined, { signal, ref: false });
      };
      // They share a machine.
      const metrics = new InstanceMetrics(() => home.state, now);
      return {
        description: SIMULATED,
        store: new SharedArchives(),
        databases: undefined,
        createData: async (_, archive) =>
          new SimulatedData({ content, archiving: archive !== undefined, takeTime, folder: home.state }),
        metricsOf: () => metrics,
        close: async () => undefined,
      };
    },
  };
}

/** A tar as small as a tar can be that says what it is. */
async function contentOfBackups(): Promise<Buffer> {
  const tar = pack();
  tar.entry(
    { name: 'SIMULATED.txt', mtime: new Date(0) },
    'A backup of a simulated instance of `lifeboat lab`: there is no database behind it, and it holds no data.\n',
  );
  tar.finalize();
  return await buffer(tar);
}
