import { subscribe } from 'node:diagnostics_channel';
import { existsSync, rmSync } from 'node:fs';
import process from 'node:process';

/*
 * Preloaded with `node --import`: the process stops itself (SIGSTOP) at a moment of its requests that cannot
 * be seen from outside, when the file TEAM_STOP_FILE is there; once. It holds nothing but the name of a
 * channel of undici: `undici:client:connected` is published when there is a connection, and not a byte was
 * written to it.
 */
const file = process.env['TEAM_STOP_FILE'];
const channel = process.env['TEAM_STOP_AT'];

if (file !== undefined && channel !== undefined)
  subscribe(channel, () => {
    if (!existsSync(file)) return;
    process.kill(process.pid, 'SIGSTOP');
    rmSync(file, { force: true });
  });
