import { hash, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { type Checkpoint, parseCheckpoint } from '../checkpoint.ts';
import type { Signer } from '../signer.ts';

/*
 * Where checkpoints are kept outside of the store, so that a store that was rolled back shows:
 *
 *     <root>/lifeboat-<16 hex digits>.pub     public key of an installation, PEM
 *     <root>/<16 hex digits of the origin>/x001/x234/067
 *         the checkpoint of size 1234067
 *     <root>/<16 hex digits of the origin>/x001/x234/067-<16 hex digits of the note's SHA-256>
 *         another one of that size: other calls are armed, or another history was signed
 *
 * Nothing is ever replaced. No folder holds more names than a thousand sizes have, and the newest is found by
 * descending.
 */

/** Distinguished by what they can do: `home` is the required one, a `command` cannot be read back. */
export type PlaceKind = 'home' | 'folder' | 'command';

/** A note as it lies in a place: nothing verified. */
export interface PlacedNote {
  readonly file: string;
  /** As its name says. */
  readonly size: number;
  /** Undefined for a file that cannot be a note, or that others could have written in the home. */
  readonly note: string | undefined;
  /** When the file was written, RFC 3339 UTC, by the clock of its file system. */
  readonly writtenAt: string;
}

/**
 * `conflict`: the place has another root for that size, in `others`; the new checkpoint lies beside it.
 * `down`: it could not be written, and `why` is the end of a sentence.
 */
export type Written =
  | { readonly result: 'written' }
  | { readonly result: 'conflict'; readonly others: readonly PlacedNote[] }
  | { readonly result: 'down'; readonly why: string };

export type Look =
  | {
      readonly result: 'read';
      /** The newest first. */
      readonly notes: readonly PlacedNote[];
      /** The public keys that lie beside them. */
      readonly keys: readonly KeyObject[];
      /** Every log of which it has a folder. */
      readonly origins: readonly string[];
    }
  | { readonly result: 'down'; readonly why: string }
  | { readonly result: 'write-only' };

export interface LookFor {
  readonly origin: string | undefined;
  /** All larger than this, and `most` of the others. */
  readonly beyond: number;
  readonly most: number;
}

/** Somewhere checkpoints are kept. Nothing here rejects, but for `all`. */
export interface Place {
  /** For a person: a path, or what the command is. */
  readonly name: string;
  readonly kind: PlaceKind;
  /**
   * Keeps a checkpoint, with the key that signed it beside. It is on disk when this says `written` or
   * `conflict`; a process that dies inside leaves all of it or nothing. A place that does not answer is left
   * alone after its time limit.
   */
  write(note: string, signer: Pick<Signer, 'installation' | 'publicKey'>): Promise<Written>;
  /** The newest checkpoints of a log, within the time limit of the place. */
  look(wanted: LookFor): Promise<Look>;
  /**
   * Every checkpoint of a log, the newest first, without a limit of time. Rejects with what the system says.
   */
  all(origin: string): AsyncIterable<PlacedNote>;
}

/** The folder of a log inside a place. */
export function folderOf(origin: string): string {
  return origin.replace(/^lifeboat\//u, '');
}

/** Where the checkpoint of a size lies, below the folder of its log. */
export function pathOfSize(size: number): string {
  const part = (from: number) => String(Math.floor(size / from) % 1000).padStart(3, '0');
  return join(
    `x${String(Math.floor(size / 1e6)).padStart(3, '0')}`,
    `x${part(1000)}`,
    String(size % 1000).padStart(3, '0'),
  );
}

/** The name of a second checkpoint of a size. */
export function nameBeside(name: string, note: string): string {
  return `${name}-${hash('sha256', note, 'hex').slice(0, 16)}`;
}

/** What a note claims, its signature not looked at; undefined for what is none. */
export function claimOf(note: string | undefined): Checkpoint | undefined {
  return note === undefined ? undefined : parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
}
