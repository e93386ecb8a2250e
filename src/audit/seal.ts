import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import { LifeboatError } from '../errors.ts';
import type { Entry, Head, Journal, StreamName } from '../store/journal.ts';
import type { Signer } from '../store/log/signer.ts';
import {
  checkpointRoot,
  keptName,
  type SealReason,
  sharedCheckpointRoot,
  writeDurably,
  writeLatest,
  writePublicKey,
} from './checkpoint-files.ts';

export interface SealOptions {
  readonly home: string;
  /** More folders for the kept checkpoints, best on another machine's disk. */
  readonly folders?: readonly string[];
  /** Told when a checkpoint could not be written; the run goes on. */
  readonly onProblem?: (problem: LifeboatError) => void;
}

export interface Sealer {
  /**
   * Signs the stream's head and keeps it: on disk, synced, when the promise resolves. Rejects with `evidence.not-sealed`
   * when the checkpoint below `home` cannot be written. An extra folder that fails or takes over 5 s goes to `onProblem`.
   * Gives the signed note.
   */
  sealNow(stream: StreamName, reason: SealReason): Promise<string>;
  /** Writes the checkpoints that are still due. */
  flush(): void;
  /** Flushes and stops listening. */
  stop(): void;
}

/**
 * Keeps the newest signed head of every stream outside the database, so that a cut tail shows. After an append it is
 * written in the next turn of the event loop, off the path of whoever waits for the append, and again at process exit. A
 * process that is killed in between leaves a checkpoint that is a few entries old, never a wrong one.
 */
export function watchJournal(journal: Journal, signer: Signer, options: SealOptions): Sealer {
  const root = checkpointRoot(options.home);
  const due = new Map<StreamName, Head>();
  const report = options.onProblem ?? ((problem) => process.emitWarning(problem));
  let planned: NodeJS.Immediate | undefined;

  const flush = () => {
    clearImmediate(planned);
    planned = undefined;
    for (const [stream, head] of due) {
      try {
        writeLatest(root, stream, signer.sign(head));
        due.delete(stream);
      } catch (cause) {
        report(notSealed(stream, cause));
      }
    }
  };
  const note = (entries: readonly Entry[]) => {
    for (const { stream, seq, hash } of entries) due.set(stream, { stream, seq, hash });
    planned ??= setImmediate(flush);
  };
  const unsubscribe = journal.onAppended(note);
  process.on('exit', flush);
  keepPublicKey(root, signer);

  return {
    async sealNow(stream, reason) {
      const head = await journal.head(stream);
      const signed = signer.sign(head);
      const name = join(stream, keptName(head.seq, reason));
      try {
        writeDurably(root, name, signed);
        writeLatest(root, stream, signed);
        if ((due.get(stream)?.seq ?? 0) <= head.seq) due.delete(stream);
      } catch (cause) {
        throw notSealed(stream, cause);
      }
      await Promise.all(
        (options.folders ?? []).map((folder) =>
          copyTo(sharedCheckpointRoot(folder, signer.installation), {
            [name]: signed,
            'lifeboat.pub': signer.publicKey,
          }).catch((cause) => report(notSealed(stream, cause, folder))),
        ),
      );
      return signed;
    },
    flush,
    stop() {
      unsubscribe();
      process.off('exit', flush);
      flush();
    },
  };
}

function keepPublicKey(root: string, signer: Signer): void {
  try {
    writePublicKey(root, signer.publicKey);
  } catch (cause) {
    throw new LifeboatError('evidence.not-sealed', `the public key cannot be written to ${root}`, { cause });
  }
}

/** A folder on a dead network mount answers never; the recovery does not wait for it. */
const PATIENCE = 5_000;

async function copyTo(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  const copies = Object.entries(files).map(async ([name, text]) => {
    const path = join(root, name);
    await mkdir(join(path, '..'), { recursive: true });
    // Not by `dropLink`, which would wait for a mount that is dead.
    if ((await lstat(path).catch(() => undefined))?.isSymbolicLink() === true) await rm(path);
    await writeFileAtomic(path, text);
  });
  const impatience = new AbortController();
  const tooLong = wait(PATIENCE, undefined, { ref: false, signal: impatience.signal }).then(() => {
    throw new Error(`no answer within ${PATIENCE} ms`);
  });
  try {
    await Promise.race([Promise.all(copies), tooLong]);
  } finally {
    tooLong.catch(() => {});
    impatience.abort();
  }
}

function notSealed(stream: StreamName, cause: unknown, folder?: string): LifeboatError {
  const where = folder === undefined ? '' : ` to ${folder}`;
  return new LifeboatError('evidence.not-sealed', `the checkpoint of ${stream} cannot be written${where}`, {
    hints: ['the journal itself is complete', 'free space or repair the rights of the checkpoint folder'],
    evidence: { error: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}
