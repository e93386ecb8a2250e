import type { KeyObject } from 'node:crypto';
import { childEnvironment } from '../../../base/child-environment.ts';
import { runShell } from '../../../base/run-shell.ts';
import { show } from '../../../base/text.ts';
import type { Signer } from '../signer.ts';

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
   * Keeps a checkpoint beside the key that signed it. It is on disk when this says `written` or `conflict`; a
   * process that dies inside leaves all or nothing. A place that does not answer in time is left alone.
   */
  write(note: string, signer: Pick<Signer, 'installation' | 'publicKey'>): Promise<Written>;
  /** The newest checkpoints of a log, within the time limit of the place. */
  look(wanted: LookFor): Promise<Look>;
  /** Every checkpoint of a log, the newest first, whatever it takes. Rejects with what the system says. */
  all(origin: string): AsyncIterable<PlacedNote>;
}

export interface CommandPlaceOptions {
  readonly command: string;
  readonly timeoutMs: number;
  /** Variables that it does not get to see. */
  readonly hideEnv: readonly string[];
}

/**
 * A command that gets each checkpoint on its standard input: a ticket, a git repository, a transparency log.
 * Run by `/bin/sh`, killed with all that it started when its time is over. It cannot be read back.
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
