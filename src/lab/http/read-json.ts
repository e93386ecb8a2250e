import type { HttpBindings } from '@hono/node-server';
import { Refusal } from './endpoint.ts';

/** A request body is a handful of settings. */
const LARGEST_BODY = 64 * 1024;

/** The body as JSON; `undefined` when there is none or it is something else. Throws 413 for one that is too large. */
export async function readJson(incoming: HttpBindings['incoming']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Refusal(413, 'bodyTooLarge', 'the body is too large');
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
