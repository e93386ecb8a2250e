import { backupEndpoints, backupsConfigEndpoints } from './backups.ts';
import { downloadEndpoints } from './download.ts';
import type { Endpoint, Revision } from './endpoint.ts';
import { disasterRecoveryEndpoints, restoreEndpoints } from './restores.ts';
import { overviewEndpoints, upkeepEndpoints } from './upkeep.ts';
import { v0Endpoints } from './v0.ts';

/** Every endpoint that a revision of the service has, V0 included. */
export function endpointsOf(revision: Revision): readonly Endpoint[] {
  return [
    ...overviewEndpoints,
    ...backupEndpoints,
    ...restoreEndpoints,
    ...backupsConfigEndpoints,
    ...disasterRecoveryEndpoints,
    ...upkeepEndpoints,
    ...v0Endpoints,
    ...downloadEndpoints,
  ].filter((endpoint) => endpoint.answers[revision] !== undefined);
}
