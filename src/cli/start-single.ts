import { start } from './start.ts';

/* The way into a single executable, which brings its own Node. src/cli.ts is the way into the package. */
void start(process.argv.slice(2));
