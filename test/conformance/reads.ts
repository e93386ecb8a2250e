import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { Api } from './api.ts';
import { call, ENDPOINTS, type Endpoint, type Probe, successOf, UNKNOWN } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { ensure, expectBody, expectError, expectStatus } from './expect.ts';
import { Listing, SomeBackup, SomeConfig, SomeOverview, SomeRestore } from './shapes.ts';
import type { Subject } from './subject.ts';

/** What an endpoint said, and the answer it was read from. */
export interface Read<T> {
  readonly value: T;
  readonly exchange: Exchange;
}

/** Asks, and expects a status of success of the revision and a body of the shape. */
export async function ask<T>(
  subject: Subject,
  endpoint: Endpoint,
  shape: z.ZodType<T>,
  { api = subject.api, probe = UNKNOWN }: { readonly api?: Api; readonly probe?: Probe } = {},
): Promise<Read<T>> {
  const exchange = await call(api, endpoint, probe);
  return { value: expectBody(exchange, successOf(endpoint, subject.revision), shape), exchange };
}

export async function readBackups(subject: Subject): Promise<Read<readonly SomeBackup[]>> {
  return await ask(subject, ENDPOINTS.listBackups, SomeBackup.array());
}

export async function readRestores(subject: Subject, api?: Api): Promise<Read<readonly SomeRestore[]>> {
  return await ask(subject, ENDPOINTS.listRestores, SomeRestore.array(), api === undefined ? {} : { api });
}

export async function readConfig(subject: Subject, api?: Api): Promise<Read<SomeConfig>> {
  return await ask(subject, ENDPOINTS.getConfig, SomeConfig, api === undefined ? {} : { api });
}

export async function readOverview(subject: Subject, api?: Api): Promise<Read<SomeOverview>> {
  return await ask(subject, ENDPOINTS.overview, SomeOverview, api === undefined ? {} : { api });
}

export async function readListing(subject: Subject): Promise<Read<Listing>> {
  return await ask(subject, ENDPOINTS.v0List, Listing);
}

/** The newest backup that is done and that `wanted` holds for. */
export async function newestBackup(
  subject: Subject,
  wanted: (backup: SomeBackup) => boolean = () => true,
): Promise<SomeBackup | undefined> {
  const { value } = await readBackups(subject);
  const fit = value.filter((backup) => backup.status === 'done' && wanted(backup));
  return fit.toSorted((one, other) => Date.parse(other.triggered_at) - Date.parse(one.triggered_at))[0];
}

/**
 * Sends a call that changes something, and expects success. Revision 61 may say 409 while the same action is
 * in progress: nothing has been accepted then, so the call is sent again until the deadline.
 */
export async function act<T>(
  subject: Subject,
  endpoint: Endpoint,
  shape: z.ZodType<T>,
  options: { readonly api?: Api; readonly probe?: Probe; readonly body?: unknown } = {},
): Promise<Read<T>> {
  const exchange = await accepted(subject, endpoint, options);
  return { value: expectBody(exchange, [exchange.status], shape), exchange };
}

/** As `act`, for the endpoints whose success body the document does not show. */
export async function accepted(
  subject: Subject,
  endpoint: Endpoint,
  {
    api = subject.api,
    probe = UNKNOWN,
    body,
  }: { readonly api?: Api; readonly probe?: Probe; readonly body?: unknown } = {},
): Promise<Exchange> {
  const end = performance.now() + subject.deadline;
  for (;;) {
    const exchange = await call(api, endpoint, probe, body);
    const busy = exchange.status === 409 && subject.revision === 61 && endpoint.base === 'v1';
    if (!busy) {
      expectStatus(exchange, successOf(endpoint, subject.revision));
      return exchange;
    }
    expectError(exchange, [409], 'v1');
    ensure(performance.now() < end, 'still 409 at the deadline', exchange);
    await pause(subject.poll);
  }
}
