import { LifeboatError } from '../base/errors.ts';
import type { Answer, SendOutcome } from './client.ts';
import { type Operations, unsent } from './operations.ts';
import { readCreated, readId } from './send-outcome.ts';
import { BackupListing, backupsOf, restoresOf } from './v0-listing.ts';
import { type Methods, v1Methods } from './v1.ts';

/**
 * The methods of version 0 (service-api.md section 4.4): what can be had from its one listing, creating and
 * restoring a backup. All others end with `service.unsupported`.
 */
export function v0Methods(operations: Operations): Methods {
  const list = (signal?: AbortSignal) => operations.read('backups', BackupListing, { signal });

  /**
   * A mutating call follows no redirect, and a login is one: the listing, read just before, takes the
   * redirects and brings the session's cookies and the internal ids. When it cannot be read, nothing is sent.
   */
  async function afterListing<T>(
    signal: AbortSignal | undefined,
    send: (listing: BackupListing) => Promise<SendOutcome<T>>,
  ): Promise<SendOutcome<T>> {
    let listing: BackupListing;
    try {
      listing = (await list(signal)).value;
    } catch (error) {
      return unsent(error);
    }
    return send(listing);
  }

  return {
    ...v1Methods(operations),
    backups: async (signal) => mapped(await list(signal), backupsOf),
    backup: async (id, signal) => oneOf(await list(signal), 'backups', backupsOf, id),
    restores: async (signal) => mapped(await list(signal), restoresOf),
    restore: async (id, signal) => oneOf(await list(signal), 'restores', restoresOf, id),
    createBackup: (leave) =>
      afterListing(leave?.signal, () =>
        operations.send('createBackup', { session: true, read: readCreated, leave }),
      ),
    restoreBackup: (id, leave) =>
      afterListing(leave?.signal, async (listing) => {
        const backup = listing.backups.find((one) => one.id === id);
        if (backup === undefined) return unsent(notListed(id));
        return operations.send('restoreBackup', {
          body: { instance_id: backup.instance_id ?? listing.id, backup_id: backup.id },
          session: true,
          read: (json) => ({ id: readId(json, 'restore_id') }),
          leave,
        });
      }),
  };
}

function mapped<T, U>(answer: Answer<T>, map: (value: T) => U): Answer<U> {
  return { ...answer, value: map(answer.value) };
}

/** One row of the listing, in our words and in the service's. */
function oneOf<T extends { readonly id: number }>(
  answer: Answer<BackupListing>,
  field: 'backups' | 'restores',
  map: (listing: BackupListing) => readonly T[],
  id: number,
): Answer<T> {
  const value = map(answer.value).find((one) => one.id === id);
  if (value === undefined) throw notListed(id);
  const rows = (answer.raw as Readonly<Record<string, readonly { readonly id: number }[]>>)[field];
  return { ...answer, value, raw: rows?.find((row) => row.id === id) };
}

function notListed(id: number): LifeboatError {
  return new LifeboatError('service.not-found', `the service lists nothing with the id ${id}`, {
    hints: ['check the id: list what is there', 'nothing was changed'],
  });
}
