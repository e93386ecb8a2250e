import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the room for new objects as small as it is: for the config of ten thousand instances, or thousands of
 * answers, V8 would let it grow to 64 MiB and more, and no command would be faster. Call it before anything
 * is read.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
