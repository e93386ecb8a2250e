import type { Untrusted } from '../base/text.ts';
import { describePath, type MetricPoint } from './metrics.ts';

/**
 * What the parachute knows about one disk of one node: it stops the node when the disk is fuller than the
 * threshold (service-api.md section 2.8). Each value is the latest one; undefined when there is none.
 */
export interface ParachuteDisk {
  readonly service: Untrusted | undefined;
  readonly index: number | undefined;
  /** `ephemeral`, `persistent`, or what else there is. */
  readonly disk: string;
  /** 0 to 100. */
  readonly usedPercent: number | undefined;
  /** 0 to 100. */
  readonly usedThreshold: number | undefined;
  readonly activated: boolean | undefined;
  /** When the newest of these was measured. Milliseconds since 1970. */
  readonly atMs: number;
}

const FACT = /^parachute\.disk\.(?<disk>[^.]+)\.(?<fact>used_percent|used_threshold|activated)$/u;

/**
 * Collects the disks of all nodes, in the order in which they first appear. Of points at the same time the
 * last one counts.
 */
export function parachuteDisks(points: readonly MetricPoint[]): readonly ParachuteDisk[] {
  const facts = points.flatMap((point) => {
    const { service, index, name } = describePath(point.path);
    const { disk, fact } = FACT.exec(name)?.groups ?? {};
    if (disk === undefined || fact === undefined) return [];
    return [{ service, index, disk, fact, value: point.value, atMs: point.atMs }];
  });
  const byDisk = Map.groupBy(facts, ({ service, index, disk }) => JSON.stringify([service, index, disk]));
  return [...byDisk.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const latest = new Map(
      of.toSorted((one, other) => one.atMs - other.atMs).map(({ fact, value }) => [fact, value]),
    );
    const activated = latest.get('activated');
    return [
      {
        service: first.service,
        index: first.index,
        disk: first.disk,
        usedPercent: latest.get('used_percent'),
        usedThreshold: latest.get('used_threshold'),
        activated: activated === undefined ? undefined : activated !== 0,
        atMs: of.reduce((newest, { atMs }) => Math.max(newest, atMs), Number.NEGATIVE_INFINITY),
      },
    ];
  });
}
