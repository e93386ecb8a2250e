import { createPublicKey, type KeyObject } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { dropLink, readPlainFile } from '../bounded-file.ts';
import { syncFolder } from '../store/folders.ts';
import type { StreamName } from '../store/journal.ts';
import { installationOf } from '../store/log/checkpoint.ts';
import { MAX_NOTE_BYTES } from '../store/log/signed-note.ts';
import { makeFolderInside } from '../trusted-path.ts';

/*
 * The layout, below `$LIFEBOAT_HOME/checkpoints` and below `<extra folder>/lifeboat-<installation>`:
 *
 *     lifeboat.pub                          the public key, PEM
 *     lifeboat-<installation>.pub           public keys before it
 *     run/<id>/latest.note                  replaced after every append
 *     run/<id>/00000042-armed.note          kept: the head at a named moment
 *     instance/<name>/…
 */

/** The moments whose checkpoint is kept for good. */
export type SealReason = 'armed' | 'closed' | 'handed-over';

export function checkpointRoot(home: string): string {
  return join(home, 'checkpoints');
}

/** The same layout in a folder that several installations may share, for instance a git checkout. */
export function sharedCheckpointRoot(folder: string, installation: string): string {
  return join(folder, `lifeboat-${installation}`);
}

/** The file of a kept checkpoint, relative to its stream's folder. */
export function keptName(seq: number, reason: SealReason): string {
  return `${String(seq).padStart(8, '0')}-${reason}.note`;
}

/**
 * Replaces a stream's newest checkpoint atomically. Its content is on disk before its name is, so that a power cut leaves this one or
 * the one before it, never an empty file that an audit would take for a forgery; which of the two is not waited for.
 */
export function writeLatest(root: string, stream: StreamName, note: string): void {
  const folder = join(root, stream);
  makeFolderInside(dirname(root), folder);
  dropLink(join(folder, 'latest.note'));
  writeFileAtomic.sync(join(folder, 'latest.note'), note, { mode: 0o600 });
}

/** Writes a file atomically; it survives a power cut when this returns, and so do new folders from `root` down. */
export function writeDurably(root: string, name: string, text: string): void {
  const path = join(root, name);
  makeFolderInside(dirname(root), dirname(path));
  dropLink(path);
  writeFileAtomic.sync(path, text, { mode: 0o600 });
  for (let folder = dirname(path); folder.length >= dirname(root).length; folder = dirname(folder)) {
    syncFolder(folder);
    if (folder === dirname(folder)) return;
  }
}

/** Puts the public key beside its checkpoints. An older key keeps a name of its own: old checkpoints need it. */
export function writePublicKey(root: string, pem: string): void {
  const path = join(root, 'lifeboat.pub');
  const [present] = parsePublicKeys(readSmall(path) ?? '');
  if (present !== undefined) {
    if (present.export({ type: 'spki', format: 'pem' }) === pem) return;
    renameSync(path, join(root, `lifeboat-${installationOf(present)}.pub`));
  }
  writeDurably(root, 'lifeboat.pub', pem);
}

/** The public keys that lie beside the checkpoints. Files that hold none are passed over. */
export function readPublicKeys(root: string): readonly KeyObject[] {
  return names(root)
    .filter((name) => name.endsWith('.pub'))
    .flatMap((name) => parsePublicKeys(readSmall(join(root, name)) ?? ''));
}

/** The ed25519 keys in a text of one or more PEM blocks. */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/gu) ?? [];
  return blocks.flatMap((block) => {
    try {
      const key = createPublicKey(block);
      return key.asymmetricKeyType === 'ed25519' ? [key] : [];
    } catch {
      return [];
    }
  });
}

export interface NoteFile {
  readonly path: string;
  /** The stream whose folder it lies in. */
  readonly stream: string;
  /** `undefined` when the file cannot be read as a note at all. */
  readonly note: string | undefined;
}

/** All notes below a root, or those of one stream. Missing folders hold none. */
export function readNotes(root: string, stream?: string): readonly NoteFile[] {
  const streams =
    stream === undefined
      ? ['run', 'instance'].flatMap((kind) => names(join(root, kind)).map((name) => `${kind}/${name}`))
      : [stream];
  return streams.flatMap((from) =>
    names(join(root, from))
      .filter((name) => name.endsWith('.note'))
      .map((name) => join(root, from, name))
      .map((path) => ({ path, stream: from, note: readSmall(path) })),
  );
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function readSmall(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readPlainFile(path, MAX_NOTE_BYTES));
  } catch {
    return undefined;
  }
}
