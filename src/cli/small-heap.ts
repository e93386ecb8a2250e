import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the room for new objects as small as it is, for a command that makes garbage of thousands of answers:
 * V8 would let it grow to 64 MiB, and the command would be no faster. Call it before the config is read.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
