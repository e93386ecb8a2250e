import type { KeyObject } from 'node:crypto';
import { childEnvironment, runShell } from '../../../base/run-shell.ts';
import { show } from '../../../base/text.ts';
import type { Signer } from '../signer.ts';

/** By capability: `home` is the required one, a `command` cannot be read back. */
export type PlaceKind = 'home' | 'folder' | 'command';

/** A note as found in a place, unverified. */
export interface PlacedNote {
  readonly file: string;
  /** As stated by its name. */
  readonly size: number;
  /** Undefined for a file that cannot be a note, or, in the home, that others could have written. */
  readonly note: string | undefined;
  /** When the file was written, RFC 3339 UTC, by the clock of its file system. */
  readonly writtenAt: string;
}

/**
 * `conflict`: the place has another root for that size, in `others`; the new checkpoint is stored beside it.
 * `down`: it could not be written; `why` completes a sentence.
 */
export type Written =
  | { readonly result: 'written' }
  | { readonly result: 'conflict'; readonly others: readonly PlacedNote[] }
  | { readonly result: 'down'; readonly why: string };

export type Look =
  | {
      readonly result: 'read';
      /** Newest first. */
      readonly notes: readonly PlacedNote[];
      /** The public keys stored beside them. */
      readonly keys: readonly KeyObject[];
      /** Every log that has a folder there. */
      readonly origins: readonly string[];
    }
  | { readonly result: 'down'; readonly why: string }
  | { readonly result: 'write-only' };

export interface LookFor {
  readonly origin: string | undefined;
  /** Return all larger than this size, and `most` of the others. */
  readonly beyond: number;
  readonly most: number;
}

/** A place that keeps checkpoints. Nothing here rejects, except `all`. */
export interface Place {
  /** For a person: a path, or a description of the command. */
  readonly name: string;
  readonly kind: PlaceKind;
  /**
   * Stores a checkpoint beside the key that signed it. It is on disk when this returns `written` or
   * `conflict`; a process that dies here leaves all or nothing. A place that does not answer in time is
   * abandoned.
   */
  write(note: string, signer: Pick<Signer, 'installation' | 'publicKey'>): Promise<Written>;
  /** The newest checkpoints of a log, within the time limit of the place. */
  look(wanted: LookFor): Promise<Look>;
  /** Every checkpoint of a log, newest first, without a time limit. Rejects with the system's errors. */
  all(origin: string): AsyncIterable<PlacedNote>;
}

export interface CommandPlaceOptions {
  readonly command: string;
  readonly timeoutMs: number;
  /** Environment variables withheld from the command. */
  readonly hideEnv: readonly string[];
}

/**
 * A command that gets each checkpoint on its standard input: for a ticket, a git repository, a transparency
 * log. Run by `/bin/sh`; killed with all its children at its time limit. It cannot be read back.
 */
export function commandPlace({ command, timeoutMs, hideEnv }: CommandPlaceOptions): Place {
  return {
    name: `the command \`${show(command, 80)}\``,
    kind: 'command',
    async write(note) {
      const env = childEnvironment(hideEnv);
      const signal = new AbortController().signal;
      const { exit, stderr } = await runShell(command, { env, timeoutMs, signal, input: note });
      if (exit === 0) return { result: 'written' };
      if (exit === 'timeout') return { result: 'down', why: `it took longer than ${timeoutMs / 1000} s` };
      const said = show(stderr.trim().split('\n')[0] ?? '', 120);
      return { result: 'down', why: `it ended with ${exit}${said === '' ? '' : `: ${said}`}` };
    },
    look: async () => ({ result: 'write-only' }),
    async *all() {},
  };
}
