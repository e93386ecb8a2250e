import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates a folder, and those above it, for its owner only. A folder that exists keeps its mode. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Creates an empty private file if there is none, durably, and takes the rights of others away. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  syncFolder(dirname(path));
}

/** Makes the names inside a folder durable: a new or renamed file survives a power cut only after this. */
export function syncFolder(path: string): void {
  // Windows has no fsync for folders; its rename is durable by itself.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
