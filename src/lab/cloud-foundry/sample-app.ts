import { readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Client } from 'pg';
import { foreignPartOf } from '../http/own-address.ts';

/*
 * A sample application in its own process, with only the credentials it was started with. Its argument is a
 * private file with its name, work and VCAP_SERVICES, which it removes. Every line it prints is its state as
 * JSON, as is `GET /` on its port, with 503 while it fails. It loads little: the lab starts several at once.
 */

interface Order {
  readonly name: string;
  /** `api` places orders; `report` sums them up and writes nothing. */
  readonly work: 'api' | 'report';
  /** Orders a second; 0 places none and only asks if the database answers. */
  readonly perSecond: number;
  readonly VCAP_SERVICES: Readonly<Record<string, readonly { readonly credentials: Credentials }[]>>;
}

interface Credentials {
  readonly host: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** After a refused order. */
const RETRY_MS = 250;
const REST_MS = 500;
/** Not every quick order is reported. */
const QUIET_MS = 100;
const CONNECT_MS = 5_000;
const QUERY_MS = 10_000;
const LONGEST_ERROR = 300;

const file = process.argv.at(-1) ?? '';
const order: Order = JSON.parse(readFileSync(file, 'utf8'));
rmSync(file);
const credentials = Object.values(order.VCAP_SERVICES)[0]?.[0]?.credentials;
const orders: { placed: number; newest: string | null; sum?: string } = { placed: 0, newest: null };
let state: 'starting' | 'ok' | 'failing' = 'starting';
let since = new Date().toISOString();
let lastError: string | null = null;
let reportedAt = 0;

const server = createAdaptorServer({
  fetch: (_, { incoming }) =>
    foreignPartOf(incoming as IncomingMessage) === undefined
      ? Response.json(report(), { status: state === 'ok' ? 200 : 503 })
      : new Response('this request names another address', { status: 421 }),
  hostname: '127.0.0.1',
}) as Server;
// The lab has ended.
process.stdout.on('error', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  tell();
  void live();
});

async function live(): Promise<never> {
  let client: Client | undefined;
  for (;;) {
    try {
      client ??= await connect();
      await work(client);
      enter('ok');
      await pause(order.work === 'api' && order.perSecond > 0 ? 1000 / order.perSecond : REST_MS);
    } catch (error) {
      fail(error);
      await client?.end().catch(() => undefined);
      client = undefined;
      await pause(RETRY_MS);
    }
  }
}

async function connect(): Promise<Client> {
  if (credentials === undefined) throw new Error('no service is bound');
  const { host, username: user, password, database } = credentials;
  const limits = { connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS };
  const client = new Client({ host, user, password, database, application_name: order.name, ...limits });
  // The server ends or cuts the connection between two queries.
  client.on('error', fail);
  await client.connect();
  return client;
}

async function work(client: Client): Promise<void> {
  if (order.work === 'report') {
    const { rows } = await client.query<{ sum: string; newest: string | null }>(
      'select coalesce(sum(total), 0)::text as sum, max(id)::text as newest from orders',
    );
    Object.assign(orders, rows[0]);
  } else if (order.perSecond > 0) {
    const { rows } = await client.query<{ id: string }>('select place_order()::text as id');
    orders.placed += 1;
    orders.newest = rows[0]?.id ?? null;
  } else {
    await client.query('select 1');
  }
}

function fail(error: unknown): void {
  lastError = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_ERROR);
  enter('failing');
}

function enter(next: 'ok' | 'failing'): void {
  const isNew = next !== state;
  if (isNew) since = new Date().toISOString();
  state = next;
  if (isNew || performance.now() - reportedAt >= QUIET_MS) tell();
}

function tell(): void {
  reportedAt = performance.now();
  process.stdout.write(`${JSON.stringify(report())}\n`);
}

function report() {
  const { port } = server.address() as AddressInfo;
  return { app: order.name, state, since, lastError, orders, port };
}
