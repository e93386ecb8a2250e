import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Bytes. A head may have 16 KiB of fields, and interim answers before it. */
const MAX = 1024 * 1024;
const LOOK_MS = 25;

const MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** The parser's own name for it (llhttp), which undici leaves out. */
const TWO_LENGTHS = 'HPE_UNEXPECTED_CONTENT_LENGTH';

/** What the channels of undici say. */
interface About {
  readonly request: unknown;
}

interface Waiting {
  readonly socket: Socket;
  /** What had come over the connection when the request went out. */
  readonly from: number;
}

const waiting = new Map<unknown, Waiting>();
const heads = new WeakMap<Socket, AnswerHead>();
let timer: NodeJS.Timeout | undefined;

/**
 * Guards the head of each answer that comes to this process through undici, whoever asked. Call it once.
 *
 * An interim answer `100 Continue` that nobody asked for is left out, as RFC 9110 section 15.2 wants: undici
 * takes it for a broken connection. Other interim answers stay in: undici passes them over itself.
 *
 * A connection on which more than 1 MiB has come while the head is not whole is ended: undici counts the
 * fields of a head and the bytes of a body, but not those of a status line or of interim answers, and would
 * take in whatever comes until the time for headers is over. The request fails as one whose connection was
 * reset.
 *
 * A head with two lengths gets a code of its own: undici gives it that of a body which is too short.
 */
export function guardAnswerHeads(): void {
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

/** The filter of a connection; the first request on it puts it below `read`, by which undici takes bytes. */
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
      // Nothing left of a chunk is not the end of what there is to read.
      if (rest === null || rest.length > 0) return rest;
    }
  };
  return head;
}

/** How an answer begins whose head is not the last; as many bytes as `CONTINUE`. */
const INTERIM = /^HTTP\/1\.[01] 1\d\d/u;
const CONTINUE = 'HTTP/1.1 100';
const LINE_END = 0x0a;
const RETURN = 0x0d;

/** Takes the heads of `100 Continue` out of the bytes before an answer, in whatever pieces they come. */
class AnswerHead {
  #at: 'status' | 'skipped' | 'interim' | 'answer' = 'answer';
  /** The beginning of a status line that is not decided yet. */
  #held = Buffer.alloc(0);
  #isLineEmpty = false;

  /** A request goes out: what comes next is the head of its answer. */
  expect(): void {
    this.#at = 'status';
    this.#held = Buffer.alloc(0);
  }

  /** What of a chunk is for the parser. */
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

  /** Where the head ends: behind its first empty line. Undefined where that is still to come. */
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
