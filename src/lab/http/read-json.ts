import type { HttpBindings } from '@hono/node-server';
import { Refusal } from './endpoint.ts';

/** A request body is a handful of settings. */
const LARGEST_BODY = 64 * 1024;

/**
 * The body as JSON, its text when it is something else, `undefined` without one. Throws 413 for one that is
 * too large.
 */
export async function readJson(incoming: HttpBindings['incoming']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Refusal(413, 'bodyTooLarge', 'the body is too large');
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // No schema of a body takes a text, so whoever reads it says that it is wrong.
    return text;
  }
}
