import { closeSync, fsyncSync, openSync } from 'node:fs';

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
