import { addAbortSignal, type Readable } from 'node:stream';
import type { VerifyOptions, VerifyReport } from './backup-file.ts';
import { verifyChunks } from './verify-chunks.ts';

/**
 * Verifies a backup while it arrives, as `verifyFile` does. The stream is destroyed at the end, also after a
 * wrong key. The total of the progress is `expectedBytes`. Rejects with the stream's own error too.
 */
export async function verifyStream(stream: Readable, options: VerifyOptions): Promise<VerifyReport> {
  // Without this a stalled stream would not notice the signal.
  if (options.signal !== undefined) addAbortSignal(options.signal, stream);
  return await verifyChunks(stream, options, options.expectedBytes);
}
