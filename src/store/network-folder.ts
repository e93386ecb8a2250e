import { statfsSync } from 'node:fs';
import { LifeboatError } from '../base/errors.ts';

/** `f_type` of statfs(2) on Linux. Other systems use other numbers, so nothing is recognized there. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Throws `journal.network` on a network file system, where locks and shared memory are unreliable. */
export function assertLocalFolder(path: string): void {
  const kind = process.platform === 'linux' ? networkFileSystem(statfsSync(path).type) : undefined;
  if (kind === undefined) return;
  throw new LifeboatError('journal.network', `${path} is on a network file system (${kind})`, {
    hints: ['set LIFEBOAT_HOME to a folder on a local disk', 'checkpoints may be copied to a network folder'],
  });
}

/** The name of a network file system by its `f_type`, which some kernels return as a negative number. */
export function networkFileSystem(type: number): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(type >>> 0);
}
