import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { strangeReply } from '../faults/strange-reply.ts';

/** A timer takes 31 bits. */
const LONGEST = 2 ** 31 - 1;

/**
 * Ends a request after so many milliseconds as the platform's router does (section 8): with 504 before the
 * headers of the answer, else in the middle of it. The service behind the router works on, and nobody hears
 * of it.
 */
export async function withinLimit(
  ms: number,
  { incoming, outgoing }: HttpBindings,
  answer: Response | Promise<Response>,
): Promise<Response> {
  const over = Promise.withResolvers<Response>();
  const timer = setTimeout(
    () => {
      if (outgoing.headersSent) incoming.socket.destroy();
      else {
        const { status, headers, text } = strangeReply(504, 'html', {
          'x-cf-routererror': 'endpoint_failure',
        });
        outgoing.writeHead(status, { ...headers, connection: 'close' }).end(text);
      }
      over.resolve(RESPONSE_ALREADY_SENT);
    },
    Math.min(ms, LONGEST),
  );
  outgoing.once('close', () => clearTimeout(timer));
  return await Promise.race([answer, over.promise]);
}
