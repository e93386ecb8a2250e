import type { ServerResponse } from 'node:http';
import type { Answer, Call, Trouble } from './call.ts';

/** Writes an answer, or what trouble leaves of it, and notes in the call how it was answered. */
export function finish(
  call: Call,
  response: ServerResponse,
  answer: Answer | 'lost',
  trouble: Trouble,
): void {
  if (answer === 'lost') {
    call.answered = 'lost';
    response.destroy();
    return;
  }
  const { status } = answer;
  call.answered = status;
  if ('bytes' in answer) {
    const { breakAfter, cutAfter } = trouble;
    const isCut = cutAfter !== undefined && status < 300;
    const bytes = isCut ? answer.bytes.subarray(0, cutAfter) : answer.bytes;
    response.writeHead(
      status,
      isCut ? { ...answer.headers, 'content-length': bytes.length } : answer.headers,
    );
    if (breakAfter === undefined || status >= 300) response.end(bytes);
    else response.write(bytes.subarray(0, breakAfter), () => response.destroy());
    return;
  }
  const isPage = 'html' in answer && answer.html === true;
  const type = isPage ? 'text/html' : 'application/json; charset=utf-8';
  const more = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  response
    .writeHead(status, { 'content-type': type, ...more })
    .end(isPage ? String(answer.body) : JSON.stringify(answer.body));
}
