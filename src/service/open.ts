import type { RevisionAddress } from './address.ts';
import type { ServiceClient } from './client.ts';
import { type ConnectionOptions, openConnection } from './connection.ts';
import { openDownload } from './downloads.ts';
import { operationsOf } from './operations.ts';
import { DOWNLOAD_ORDER, type DownloadRoute, limitsOf } from './revisions.ts';
import { v0Methods } from './v0.ts';
import { v1Methods } from './v1.ts';

export interface ServiceOptions extends ConnectionOptions {
  /** In the order of attempts; default: the revision's documented order. */
  readonly downloadOrder?: readonly DownloadRoute[] | undefined;
}

/**
 * Sends nothing and reads no token until a method is called. Throws `config.ca` or `config.proxy` if the
 * network settings cannot work. After `close()` open reads end with `service.stopped` and a mutating call
 * under way ends as `unknown`.
 */
export function openService(address: RevisionAddress, options: ServiceOptions): ServiceClient {
  const { revision } = address;
  const connection = openConnection(address, options);
  const operations = operationsOf(connection, address, revision);
  const order = options.downloadOrder ?? DOWNLOAD_ORDER[revision];
  return {
    ...(revision === 'v0' ? v0Methods(operations) : v1Methods(operations)),
    isSimulated: connection.reader.isSimulated,
    limits: limitsOf(revision),
    supports: operations.supports,
    require: operations.require,
    download: (id, downloadOptions) =>
      openDownload(connection.reader, address, id, { ...downloadOptions, order }),
    ready: connection.ready,
    close: connection.close,
  };
}
