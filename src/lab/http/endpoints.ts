import { backupEndpoints } from './backups.ts';
import { backupsConfigEndpoints } from './backups-config.ts';
import { downloadEndpoints } from './download.ts';
import type { Endpoint, Revision } from './endpoint.ts';
import { overviewEndpoints } from './overview.ts';

/** Every endpoint that a revision of the service has. */
export function endpointsOf(revision: Revision): readonly Endpoint[] {
  return [...overviewEndpoints, ...backupEndpoints, ...backupsConfigEndpoints, ...downloadEndpoints].filter(
    (endpoint) => endpoint.revision === undefined || endpoint.revision === revision,
  );
}
