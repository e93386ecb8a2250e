import type { KeyObject } from 'node:crypto';
import { childEnvironment, runShell } from '../../../base/run-shell.ts';
import { show } from '../../../base/text.ts';
import type { Signer } from '../signer.ts';

/** `home` is the required one; a `command` cannot be read back. */
export type PlaceKind = 'home' | 'folder' | 'command';

/** Unverified. */
export interface PlacedNote {
  readonly file: string;
  /** By its name. */
  readonly size: number;
  /** Undefined for a file that cannot be a note, or, in the home, that others could have written. */
  readonly note: string | undefined;
  /** RFC 3339 UTC, by the clock of its file system. */
  readonly writtenAt: string;
}

/**
 * `conflict`: `others` have another root for that size; the new checkpoint is stored beside them. `down`: it
 * could not be written; `why` completes a sentence.
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
      /** Those stored beside the notes. */
      readonly keys: readonly KeyObject[];
      /** Every log that has a folder there. */
      readonly origins: readonly string[];
    }
  | { readonly result: 'down'; readonly why: string }
  | { readonly result: 'write-only' };

export interface LookFor {
  readonly origin: string | undefined;
  /** Return all that are larger, and `most` of the others. */
  readonly beyond: number;
  readonly most: number;
}

/** Keeps checkpoints. Nothing here rejects, except `all`. */
export interface Place {
  /** A path, or a description of the command. */
  readonly name: string;
  readonly kind: PlaceKind;
  /**
   * Stores a checkpoint beside its signer's key: on disk when this returns `written` or `conflict`; a process
   * that dies here leaves all or nothing. A place that does not answer in time is abandoned.
   */
  write(note: string, signer: Pick<Signer, 'installation' | 'publicKey'>): Promise<Written>;
  /** The newest checkpoints of a log, within the place's time limit. */
  look(wanted: LookFor): Promise<Look>;
  /** Newest first, without a time limit. Rejects with the system's errors. */
  all(origin: string): AsyncIterable<PlacedNote>;
}

export interface CommandPlaceOptions {
  readonly command: string;
  readonly timeoutMs: number;
  /** Variables withheld from the command. */
  readonly hideEnv: readonly string[];
}

/**
 * A command with each checkpoint on its standard input: for a ticket, a git repository, a transparency log.
 * Run by `/bin/sh`, killed with all its children at its time limit. Cannot be read back.
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
