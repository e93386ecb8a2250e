import type { TargetFacts } from '../../machines/parts/recovery-data.ts';
import { failureOf } from '../base/errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { MetricPoint } from '../service/metrics.ts';
import { type ParachuteDisk, parachuteDisks } from '../service/parachute.ts';

/** The room for the data on the target's fullest disk. */
export interface TargetRoom {
  readonly disk: TargetFacts['disk'];
  /** The parachute has opened: the node is stopped. */
  readonly isOpen: boolean;
  readonly warnings: readonly string[];
}

/** Points of some samples of a cluster; the service tells the latest last. */
const QUANTITY = 2_000;
/** A backup is compressed; during a restore it and its logs lie beside the data (domain N17). */
const FACTOR = 3;

/**
 * Forecasts whether the data of a backup fits under the parachute's threshold (service-api.md section 2.8),
 * as far as the metrics tell: of all nodes the persistent disk with the least room counts. Rejects only when
 * the signal is aborted.
 */
export async function targetDisk(
  service: Pick<ServiceClient, 'metrics'>,
  backupBytes: number | undefined,
  signal: AbortSignal,
): Promise<TargetRoom> {
  try {
    const { value } = await service.metrics({ quantity: QUANTITY, signal });
    return roomOf(value, backupBytes);
  } catch (thrown) {
    signal.throwIfAborted();
    return unknownRoom(failureOf(thrown).shortMessage);
  }
}

function roomOf(points: readonly MetricPoint[], backupBytes: number | undefined): TargetRoom {
  const disks = parachuteDisks(points).filter(({ disk }) => disk === 'persistent');
  const rooms = disks.flatMap((disk) => measured(disk, points) ?? []);
  const [least] = rooms.toSorted((one, other) => one.percent - other.percent);
  if (least === undefined) return unknownRoom('the metrics do not report it');
  const isOpen = disks.some(({ activated }) => activated === true);
  const { usedPercent, threshold, freeBytes } = least;
  const needBytes = backupBytes === undefined ? undefined : backupBytes * FACTOR;
  const disk = {
    usedPercent,
    threshold,
    ...(freeBytes === undefined ? {} : { freeBytes }),
    ...(needBytes === undefined ? {} : { needBytes }),
  };
  const warnings =
    freeBytes === undefined || needBytes === undefined
      ? [
          'it is unknown whether the data fits on the disk of the target: ' +
            'the size of the data or the free space is not known',
        ]
      : [];
  return { disk, isOpen, warnings };
}

function measured(disk: ParachuteDisk, points: readonly MetricPoint[]) {
  const { usedPercent, usedThreshold: threshold, service, index } = disk;
  if (usedPercent === undefined || threshold === undefined) return undefined;
  const prefix = service === undefined ? '' : `${service}.${index}.`;
  const path = `${prefix}parachute.disk.${disk.disk}.total`;
  const total = points
    .filter((point) => point.path === path)
    .toSorted((a, b) => a.atMs - b.atMs)
    .at(-1)?.value;
  const percent = threshold - usedPercent;
  const freeBytes = total === undefined ? undefined : Math.max(0, Math.floor((total * percent) / 100));
  return { usedPercent, threshold, percent, freeBytes };
}

function unknownRoom(why: string): TargetRoom {
  return { disk: undefined, isOpen: false, warnings: [`the disk of the target is not known: ${why}`] };
}
