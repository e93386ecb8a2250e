import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Limits } from './limits.ts';
import { blame, proxyFor } from './proxies.ts';
import type { OneConnection } from './send-once.ts';
import { type CaFile, tlsOptions } from './tls.ts';

/** `close` drops the connections, with what is pending on them. */
interface ReadConnections {
  readonly dispatcher: Dispatcher;
  readonly close: () => Promise<void>;
}

export interface Network {
  /** Keep-alive, HTTP/1.1. */
  openForReads(): ReadConnections;
  /** For a single request, directly or through a proxy; `gate` admits its one connection. */
  openForOneSend(gate: OneConnection): Dispatcher;
}

guardAnswerHeads();

/**
 * Directly, or through the proxy that the environment names (see `proxyFor`). `caFile` is trusted in addition
 * to Node's certificates. Throws `config.ca` for an unusable file and `config.proxy` for an unusable proxy.
 */
export function networkFor(origin: string, caFile: CaFile | undefined, limits: Limits): Network {
  const tls = tlsOptions(caFile, limits);
  const common = { allowH2: false, connectTimeout: limits.connectMs, connect: tls };
  const proxy = proxyFor(origin);

  const open = (options: Agent.Options): Dispatcher =>
    proxy === undefined
      ? new Agent(options)
      : new ProxyAgent({ ...options, uri: proxy.url.href, requestTls: tls, proxyTls: tls });
  /** With a proxy, `connect` is the function that opens the tunnel, or connects to the proxy. */
  const connectorOf = ({ connect }: Pick<Client.Options, 'connect'>): buildConnector.connector => {
    if (typeof connect !== 'function') return buildConnector(tls);
    return (options, callback) =>
      connect(options, (...result) => {
        const [error] = result;
        if (error !== null && proxy !== undefined) blame(error, proxy);
        callback(...result);
      });
  };
  return {
    openForReads: () => {
      const dispatcher = open({
        ...common,
        factory: (target, options) => {
          const connect = connectorOf(options as Pool.Options);
          return new Pool(target, { ...(options as Pool.Options), connect });
        },
      });
      return { dispatcher, close: () => dispatcher.destroy() };
    },
    openForOneSend: (gate) =>
      open({
        ...common,
        pipelining: 1,
        factory: (target, options) => {
          const connect = gate.wrap(connectorOf(options as Client.Options));
          return new Client(target, { ...(options as Client.Options), connect });
        },
      }),
  };
}

/** Bytes. A head may have 16 KiB of fields, and interim answers before it. */
const MAX = 1024 * 1024;
const LOOK_MS = 25;

const MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** llhttp's own code for it, which undici drops. */
const TWO_LENGTHS = 'HPE_UNEXPECTED_CONTENT_LENGTH';

/** On undici's diagnostics channels. */
interface About {
  readonly request: unknown;
}

interface Waiting {
  readonly socket: Socket;
  /** Read from the connection when the request was sent. */
  readonly from: number;
}

const waiting = new Map<unknown, Waiting>();
const heads = new WeakMap<Socket, AnswerHead>();
let timer: NodeJS.Timeout | undefined;

/**
 * Guards the head of each answer that this process receives through undici, for all callers. Call it once.
 *
 * Removes an unrequested interim answer `100 Continue`, which RFC 9110 section 15.2 allows: undici would
 * treat the connection as broken. Other interim answers stay, since undici ignores them itself.
 *
 * Ends a connection that has sent more than 1 MiB without a complete head: undici counts the fields of a head
 * and the bytes of a body, but not those of a status line or of interim answers, and would read on until the
 * header timeout. The request then fails like one whose connection was reset.
 *
 * A head with two lengths gets its own error code: undici gives it the code of a body that is too short.
 */
function guardAnswerHeads(): void {
  channel('undici:client:sendHeaders').subscribe((message) => {
    const { request, socket } = message as { readonly request: unknown; readonly socket: Socket };
    headOf(socket).expect();
    waiting.set(request, { socket, from: socket.bytesRead });
    timer ??= setInterval(look, LOOK_MS).unref();
  });
  channel('undici:request:headers').subscribe((message) => forget((message as About).request));
  channel('undici:request:error').subscribe((message) => {
    const { request, error } = message as About & { readonly error: Error };
    if (waiting.has(request) && 'code' in error && error.code === MISMATCH) error.code = TWO_LENGTHS;
    forget(request);
  });
}

function look(): void {
  for (const [request, { socket, from }] of waiting) {
    if (socket.bytesRead - from > MAX) socket.destroy(new Error('the head of the answer has no end'));
    if (socket.destroyed) forget(request);
  }
}

function forget(request: unknown): void {
  waiting.delete(request);
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** The first request on a connection installs the filter below `read`, which undici uses to get bytes. */
function headOf(socket: Socket): AnswerHead {
  const known = heads.get(socket);
  if (known !== undefined) return known;
  const head = new AnswerHead();
  heads.set(socket, head);
  const { read } = socket;
  socket.read = (size) => {
    for (;;) {
      const chunk: Buffer | null = read.call(socket, size);
      const rest = chunk === null ? null : head.take(chunk);
      // An empty rest of a chunk does not mean that there is nothing more to read.
      if (rest === null || rest.length > 0) return rest;
    }
  };
  return head;
}

/** The beginning of an interim answer, as long as `CONTINUE`. */
const INTERIM = /^HTTP\/1\.[01] 1\d\d/u;
const CONTINUE = 'HTTP/1.1 100';
const LINE_END = 0x0a;
const RETURN = 0x0d;

/** Removes the heads of `100 Continue` before an answer, however the bytes are split. */
class AnswerHead {
  #at: 'status' | 'skipped' | 'interim' | 'answer' = 'answer';
  /** The beginning of an undecided status line. */
  #held = Buffer.alloc(0);
  #isLineEmpty = false;

  /** A request is being sent, so the next bytes are the head of its answer. */
  expect(): void {
    this.#at = 'status';
    this.#held = Buffer.alloc(0);
  }

  /** Returns the bytes for the parser. */
  take(chunk: Buffer): Buffer {
    let rest = chunk;
    const kept: Buffer[] = [];
    while (rest.length > 0 && this.#at !== 'answer') {
      if (this.#at === 'status') {
        rest = this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]);
        this.#held = Buffer.alloc(0);
        const begins = rest.toString('latin1', 0, CONTINUE.length);
        if (!INTERIM.test(begins + CONTINUE.slice(begins.length))) {
          this.#at = 'answer';
        } else if (rest.length < CONTINUE.length) {
          this.#held = Buffer.from(rest);
          return Buffer.concat(kept);
        } else {
          this.#at = begins.endsWith('100') ? 'skipped' : 'interim';
          this.#isLineEmpty = false;
        }
      } else {
        const end = this.#endOf(rest);
        if (this.#at === 'interim') kept.push(rest.subarray(0, end));
        rest = rest.subarray(end ?? rest.length);
        if (end !== undefined) this.#at = 'status';
      }
    }
    return kept.length === 0 ? rest : Buffer.concat([...kept, rest]);
  }

  /** After the first empty line; undefined if that has not arrived yet. */
  #endOf(bytes: Buffer): number | undefined {
    for (const [index, byte] of bytes.entries()) {
      if (byte === LINE_END) {
        if (this.#isLineEmpty) return index + 1;
        this.#isLineEmpty = true;
      } else if (byte !== RETURN) this.#isLineEmpty = false;
    }
    return undefined;
  }
}
