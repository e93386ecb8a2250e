import type { InstanceWish } from '../../src/lab/instance-plan.ts';
import { type Lab, type LabOptions, startLab } from '../../src/lab/lab.ts';
import { bareDatabase } from './empty-database.ts';

/** The source of the default lab, where the target is not the point: each instance is a second of work. */
export const ORDERS: readonly InstanceWish[] = [
  { name: 'orders', backupType: 'continuous_archiving', sampleApp: true, key: true },
];

/** A lab without fsync: no test cuts the power, so nothing waits for the disk. */
export async function startWholeLab(options: LabOptions = {}): Promise<Lab> {
  if (options.simulated !== undefined) return await startLab(options);
  return await startLab({ fsync: false, emptyDatabase: await bareDatabase(), ...options });
}

/** A lab as fast as it gets: no new orders and no platform unless a test wants them. */
export function startTestLab(options: LabOptions = {}): Promise<Lab> {
  return startWholeLab({ platform: false, sampleApp: { rowsPerSecond: 0 }, ...options });
}
