import type { z } from 'zod';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { type InstanceAddress, urlOf } from './address.ts';
import type { Leave, SendBody, SendCall } from './call.ts';
import type { Answer, SendOutcome } from './client.ts';
import type { Connection } from './connection.ts';
import { type Callable, describeOperation, type Operation, type Revision, routeOf } from './revisions.ts';

export interface ReadRequest {
  readonly id?: number;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SendRequest<T> {
  readonly id?: number;
  readonly body?: SendBody;
  readonly session?: boolean;
  readonly repeatable?: boolean;
  readonly read: SendCall<T>['read'];
  readonly leave?: Leave | undefined;
}

/** A call that the revision lacks ends with `service.unsupported`, and nothing is sent. */
export interface Operations {
  supports(operation: Operation): boolean;
  require(operation: Operation): void;
  read<T>(operation: Callable, schema: z.ZodType<T>, request?: ReadRequest): Promise<Answer<T>>;
  send<T>(operation: Callable, request: SendRequest<T>): Promise<SendOutcome<T>>;
}

/** By the revision's table of methods, paths and success statuses. */
export function operationsOf(
  connection: Connection,
  address: InstanceAddress,
  revision: Revision,
): Operations {
  const { reader, sender } = connection;
  return {
    supports: (operation) => operation === 'download' || routeOf(operation, revision) !== undefined,
    require: (operation) => {
      if (operation === 'download' || routeOf(operation, revision) !== undefined) return;
      throw unsupportedError(operation, revision);
    },
    read: async (operation, schema, { id, query, signal } = {}) => {
      const route = routeOf(operation, revision);
      if (route === undefined) throw unsupportedError(operation, revision);
      const search = new URLSearchParams(query).toString();
      return reader.json(`${urlOf(address, route, id)}${search && `?${search}`}`, schema, signal);
    },
    send: async (operation, { id, ...call }) => {
      const route = routeOf(operation, revision);
      if (route === undefined) return unsent(unsupportedError(operation, revision));
      return sender.send({ ...call, route, url: urlOf(address, route, id) });
    },
  };
}

/** The call was not begun. */
export function unsent(error: unknown): SendOutcome<never> {
  return { outcome: 'never-sent', failure: failureOf(error), serverDate: undefined };
}

function unsupportedError(operation: Callable, revision: Revision): LifeboatError {
  const { words, revisions } = describeOperation(operation);
  const [last = '', ...others] = revisions.map((one) => nameOf(one)).reverse();
  const able = others.length === 0 ? `only ${last} can` : `${others.reverse().join(', ')} and ${last} can`;
  return new LifeboatError('service.unsupported', `${nameOf(revision)} of the service cannot ${words}`, {
    hints: [able, 'if the service has another revision, set `revision` of the instance', 'nothing was sent'],
    evidence: { operation, revision },
    exitCode: EXIT.usage,
  });
}

function nameOf(revision: Revision): string {
  return revision === 'v0' ? 'interface v0' : `revision ${revision}`;
}
