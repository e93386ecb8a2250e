import { PassThrough } from 'node:stream';
import type { Streams } from '../../src/plain/terminal.ts';

/** A prompt comes only when nothing was typed for a while, and a busy machine takes longer. */
export const SOON = { timeout: 100_000 };

/** Streams that remember what was written; stdin can be typed into. */
export function createFakeStreams(options: { isTTY?: boolean; columns?: number; env?: Streams['env'] } = {}) {
  const isTTY = options.isTTY ?? false;
  const collect = () => {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: options.columns ?? 80, rows: 24 });
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return { stream, text: () => text };
  };
  const out = collect();
  const err = collect();
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const streams: Streams = { stdin, stdout: out.stream, stderr: err.stream, env: options.env ?? {} };
  return { streams, stdin, stdout: out.text, stderr: err.text };
}
