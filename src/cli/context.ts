import type { Streams } from '../plain/terminal.ts';

/** What a command gets from the process: streams, environment, the options that every command has. */
export interface CommandContext extends Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly configPath: string | undefined;
}
