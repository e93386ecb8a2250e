import { z } from 'zod';
import { untrust } from '../text.ts';
import type { InstanceAddress } from './address.ts';
import type { Exchange } from './call.ts';
import type { ServiceClient } from './client.ts';
import { openDownload } from './downloads.ts';
import { authorise, limitTimes, observe, retryReads } from './interceptors.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { networkFor } from './network.ts';
import { openReader } from './reader.ts';
import { Backup, BackupsConfig, InstanceOverview } from './schemas.ts';
import { openSender } from './sender.ts';
import { holdToken } from './token-cache.ts';
import type { TokenReader } from './token-source.ts';
import { wholeAnswers } from './whole-answers.ts';

export interface ServiceOptions {
  readonly token: TokenReader;
  /** PEM file, trusted besides the certificates that Node trusts. */
  readonly caFile?: string | undefined;
  readonly limits?: Partial<Limits>;
  /** Told about every request at its end, retries included. Gets nothing secret. */
  readonly onExchange?: (exchange: Exchange) => void;
}

/**
 * Opens the client of one instance. Nothing is sent and no token is read until a method is called. Throws `config.ca` or
 * `config.proxy` when the network settings cannot work. After `close()` open reads end with `service.stopped` and a
 * mutating call that is under way ends as `unknown`.
 */
export function openService(address: InstanceAddress, options: ServiceOptions): ServiceClient {
  const { origin, v1 } = address;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const network = networkFor(origin, options.caFile, limits);
  const tokens = holdToken(options.token);
  const closing = new AbortController();
  // The last one stands outermost.
  const dispatcher = network
    .openForReads()
    .compose(
      authorise(origin),
      limitTimes(limits),
      observe(options.onExchange),
      wholeAnswers(limits),
      retryReads(limits),
    );
  const reader = openReader(dispatcher, origin, tokens, limits, closing.signal);
  const sender = openSender(network, origin, tokens, limits, closing.signal, options.onExchange);

  return {
    overview: (signal) => reader.json(v1, InstanceOverview, signal),
    backups: (signal) => reader.json(`${v1}/backups`, z.array(Backup), signal),
    backup: (id, signal) => reader.json(`${v1}/backups/${id}`, Backup, signal),
    backupsConfig: (signal) => reader.json(`${v1}/backups-config`, BackupsConfig, signal),
    download: (id, downloadOptions) => openDownload(reader, address, id, downloadOptions),
    createBackup: (signal) =>
      sender.send({
        method: 'POST',
        url: `${v1}/backups`,
        read: (json, clean) => ({
          id: lenient(z.int().nonnegative(), json, 'id'),
          message: messageOf(json, clean),
        }),
        signal,
      }),
    changeBackupsConfig: (change, signal) =>
      sender.send({
        method: 'PATCH',
        url: `${v1}/backups-config`,
        body: { ...change },
        read: (json, clean) => ({ message: messageOf(json, clean) }),
        signal,
      }),
    close: async () => {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}

/** A success body that is not as described still is a success: what cannot be read is undefined. */
function lenient<T>(schema: z.ZodType<T>, json: unknown, field: string): T | undefined {
  const value = typeof json === 'object' && json !== null ? Reflect.get(json, field) : undefined;
  return schema.safeParse(value).data;
}

function messageOf(json: unknown, clean: (text: string) => string) {
  const message = lenient(z.string(), json, 'message');
  return message === undefined ? undefined : untrust(clean(message));
}
