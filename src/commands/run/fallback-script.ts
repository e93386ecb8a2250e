import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { statePath } from '../../../machines/parts/states.ts';
import { makePrivateFolder } from '../../base/folders.ts';
import type { DrivenRun, RunInstances } from '../../compose/instances.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { TokenConfig } from '../../config/schema.ts';
import type { RunState } from '../../runner/run.ts';
import { type FallbackInstance, fallbackOf } from '../../view/fallback/render-fallback.ts';

/** The fallback script of a run: its text now, and its copy on disk. */
export interface FallbackScript {
  readonly path: string;
  readonly text: (state: RunState) => string;
  /** Updates the copy; a failing disk must not stop a recovery. */
  readonly write: (state: RunState) => void;
}

/** The copy is beside the journal, for when this program or its journal cannot be used. */
export function fallbackScriptFor(
  run: DrivenRun,
  runbook: Runbook,
  instances: RunInstances,
  home: string,
): FallbackScript {
  const folder = join(home, 'fallback');
  const path = join(folder, `${run.runId}.sh`);
  const text = ({ snapshot }: RunState) =>
    fallbackOf({
      runbook,
      state: statePath(snapshot),
      context: snapshot.context,
      runId: run.runId,
      path,
      instances: {
        instance: connectionOf(instances.instance),
        ...(instances.target === undefined ? {} : { target: connectionOf(instances.target) }),
      },
      now: new Date(),
      rehearsal: (instances.target ?? instances.instance).config.rehearsal,
    });
  const write = (state: RunState) => {
    try {
      makePrivateFolder(folder);
      writeFileAtomic.sync(path, text(state), { mode: 0o600, fsync: false });
    } catch {
      // Ignored: the screen shows the script too, and the run is in the journal.
    }
  };
  return { path, text, write };
}

export function connectionOf({ name, config }: Pick<OpenInstance, 'name' | 'config'>): FallbackInstance {
  const { url, revision, token } = config;
  return {
    name,
    url,
    revision: revision === 'auto' ? 62 : revision,
    ...(config.ca === undefined ? {} : { ca: config.ca }),
    tokenHow: tokenWords(token),
  };
}

function tokenWords(token: TokenConfig | undefined): string {
  if (token === undefined) return 'an access token of the platform';
  if ('command' in token) return token.command;
  if ('file' in token) return `cat ${token.file}`;
  if ('env' in token) return `echo "$${token.env}", where it is set`;
  return 'an access token of the platform; only lifeboat can read the one in the key store';
}
