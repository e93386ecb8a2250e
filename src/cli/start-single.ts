import { start } from './start.ts';

/* Starts a single executable, which brings its own Node. src/cli.ts starts the package. */
void start(process.argv.slice(2));
