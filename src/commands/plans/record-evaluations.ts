import { LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { Holds } from '../../runner/holds.ts';
import type { NewEntry } from '../../store/journal.ts';

export interface EvaluationRecorder extends AsyncDisposable {
  /** Resolves once it may be forgotten. Never rejects. */
  add(entry: NewEntry): Promise<void>;
  /** Puts the rest on record. Rejects with the first error of all of this; nothing was written after it. */
  end(): Promise<void>;
}

/** Entries of one append: each takes a lock, and they are signed and written to the disk together. */
const GROUP = 100;

/**
 * Opens the journal with the first full group: ten thousand evaluations are never kept together. Each entry
 * is under the hold of its ledger; one that a run holds is left for the next time.
 */
export function recordEvaluations(context: CommandContext, config: LoadedConfig): EvaluationRecorder {
  const waiting: NewEntry[] = [];
  let workspace: ReturnType<typeof openWorkspace> | undefined;
  let failed: { readonly thrown: unknown } | undefined;
  let turn = Promise.resolve();

  const append = async (entries: readonly NewEntry[]) => {
    workspace ??= openWorkspace(context, workspaceFor(config));
    const { journal } = await workspace;
    await using holds = new Holds(journal);
    const free: NewEntry[] = [];
    for (const entry of entries) {
      try {
        await holds.take(entry.stream);
        free.push(entry);
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.held') throw thrown;
        const name = entry.stream.slice('instance/'.length);
        context.stderr.write(`not on record yet: a run holds the ledger of ${name}\n`);
      }
    }
    if (free.length > 0) await journal.append(free, holds.all);
  };
  const flush = () => {
    turn = turn.then(async () => {
      const entries = waiting.splice(0);
      if (entries.length === 0 || failed !== undefined) return;
      try {
        await append(entries);
      } catch (thrown) {
        failed = { thrown };
      }
    });
    return turn;
  };

  return {
    async add(entry) {
      waiting.push(entry);
      if (waiting.length >= GROUP) await flush();
    },
    async end() {
      await flush();
      if (failed !== undefined) throw failed.thrown;
    },
    async [Symbol.asyncDispose]() {
      await turn;
      await (await workspace?.catch(() => undefined))?.close();
    },
  };
}
