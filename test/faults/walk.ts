import type { Walkable } from './flows.ts';
import type { Site } from './site.ts';
import { asBench, type Begun, byFlags, openStage, type Stage } from './stage.ts';

/** What stands before a flow goes in peace; then the flow is begun. */
export async function setOut(site: Site, flow: Walkable): Promise<{ stage: Stage; begun: Begun }> {
  const stage = await openStage(site, flow);
  const bench = asBench(site);
  await flow.ready?.(bench);
  for (const words of flow.before) {
    const earlier = await stage.begin(words);
    const { exitCode, why } = await stage.drive(earlier, byFlags(flow, earlier));
    if (exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${exitCode}: ${why}`);
  }
  const begun = await stage.begin(flow.args(bench));
  site.director.arm();
  return { stage, begun };
}
