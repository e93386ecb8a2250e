import { runShell } from '../../../base/run-shell.ts';
import { show } from '../../../base/text.ts';
import type { Place } from './place.ts';

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
      const env = { ...process.env };
      for (const name of hideEnv) delete env[name];
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
