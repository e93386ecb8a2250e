import * as z from 'zod';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Answer, PlainReads, ServiceClient } from './client.ts';
import { badAnswerError } from './failures.ts';
import { readMetrics } from './metrics.ts';
import type { Operations } from './operations.ts';
import { listed } from './rows.ts';
import { Backup, PLAIN_READS, Restore } from './schemas.ts';
import { readCreated, readId, readMessage, readSetting, readText } from './send-outcome.ts';

/** These differ between versions; the rest of a client is the same for all. */
export type Methods = Omit<
  ServiceClient,
  'isSimulated' | 'limits' | 'supports' | 'require' | 'ready' | 'download' | 'close'
>;

/** Service-api.md sections 4.1 and 4.2; `operations` knows which of them a revision has. */
export function v1Methods(operations: Operations): Methods {
  return {
    ...plainReads(operations),
    backups: (signal) => listed(operations.read('backups', z.array(z.unknown()), { signal }), Backup),
    backup: async (id, signal) =>
      about(id, 'backup', await operations.read('backup', Backup, { id, signal })),
    restores: (signal) => listed(operations.read('restores', z.array(z.unknown()), { signal }), Restore),
    restore: async (id, signal) =>
      about(id, 'restore', await operations.read('restore', Restore, { id, signal })),
    metrics: async ({ quantity, containing, signal } = {}) => {
      const query = quantity === undefined ? undefined : { quantity: checkQuantity(quantity) };
      const answer = await operations
        .read('metrics', z.array(z.unknown()), { query, signal })
        .catch((error: unknown) => Promise.reject(quantity === undefined ? withQuantityHint(error) : error));
      return { ...answer, value: readMetrics(answer.value, containing) };
    },
    createBackup: (leave) => operations.send('createBackup', { read: readCreated, leave }),
    restoreBackup: (id, leave) =>
      operations.send('restoreBackup', { id, read: (json) => ({ id: readId(json, 'id') }), leave }),
    changeBackupsConfig: (change, leave) =>
      operations.send('changeBackupsConfig', { body: { ...change }, read: readMessage, leave }),
    prepareRecovery: ({ key } = {}, leave) =>
      operations.send('prepareRecovery', {
        body: { encryption_key: key },
        read: (json, clean) => ({ backupGuid: readText(json, 'backup_guid', clean) }),
        // With a key it changes the instance; the backup that proves the key must not be started too early.
        repeatable: key === undefined,
        leave,
      }),
    performRecovery: ({ backupGuid, key }, leave) =>
      operations.send('performRecovery', {
        body: { backup_guid: backupGuid, encryption_key: key },
        read: (json) => ({ restoreId: readId(json, 'restore_id') }),
        leave,
      }),
    recreate: (leave) => operations.send('recreate', { read: readMessage, leave }),
    restart: (leave) => operations.send('restart', { read: readMessage, leave }),
    update: ({ serviceId }, leave) =>
      operations.send('update', { body: { service_id: serviceId }, read: readMessage, leave }),
    changeUpdateSetting: ({ type, allowed }, leave) =>
      operations.send('changeUpdateSetting', {
        body: { allowed_update_time: { type, allowed } },
        read: readSetting,
        repeatable: true,
        leave,
      }),
    restoreToTime: (targetTime, leave) =>
      operations.send('restoreToTime', {
        body: { target_time: targetTime },
        read: (json, clean) => ({ status: readText(json, 'status', clean) }),
        leave,
      }),
  };
}

function plainReads(operations: Operations): PlainReads {
  const named = Object.entries(PLAIN_READS) as [keyof PlainReads, z.ZodType][];
  const methods = named.map(([name, schema]) => [
    name,
    (signal?: AbortSignal) => operations.read(name, schema, { signal }),
  ]);
  return Object.fromEntries(methods) as PlainReads;
}

/** The answer must be about the requested task: a cache may drop a part of the path. */
function about<T extends { readonly id: number }>(id: number, what: string, answer: Answer<T>): Answer<T> {
  if (answer.value.id === id) return answer;
  throw badAnswerError(`${what} ${id} was asked for, and the answer is about ${what} ${answer.value.id}`, {
    status: answer.status,
    asked: id,
    answered: answer.value.id,
  });
}

/** Section 8. */
function checkQuantity(quantity: number): string {
  if (Number.isSafeInteger(quantity) && quantity >= 1) return String(quantity);
  throw new LifeboatError('service.invalid', 'the number of metrics must be a whole number of at least 1', {
    hints: ['leave it out for all of them', 'nothing was sent'],
    exitCode: EXIT.usage,
  });
}

function withQuantityHint(error: unknown): unknown {
  if (!(error instanceof LifeboatError) || error.code !== 'service.too-large') return error;
  return new LifeboatError(error.code, error.shortMessage, {
    hints: ['ask for a number of metrics: only the latest are then sent'],
    evidence: error.evidence,
  });
}
