/**
 * The terminal UI with an invented run, to look at by hand or in a pseudo-terminal: bundle it with esbuild
 * (as the product is), then `node demo.mjs [VIEW | tour] [crash]`. An answer moves a tour on to the next
 * view.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { canDraw } from '../../src/plain/terminal.ts';
import { firstFrame } from '../../src/tui/first-frame.ts';
import { createFakeRun } from './fake-run.ts';
import { VIEWS, type ViewName } from './fake-views.ts';

const [, , start = 'tour', how] = process.argv;
const names = Object.keys(VIEWS) as ViewName[];
let at = Math.max(0, names.indexOf(start as ViewName));
const began = Date.now();
const clocked = () => {
  const name = names[at % names.length] ?? 'choice';
  const elapsed = Math.floor((Date.now() - began) / 1000);
  const view = VIEWS[name];
  return { ...view, elapsed, clock: new Date().toISOString().slice(0, 19).replace('T', ' ') };
};
const run = createFakeRun(clocked(), () => {
  if (start === 'tour') at += 1;
});
const port = { ...run, view: clocked };

const pidFile = process.env['DEMO_PID_FILE'];
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));
const draws = canDraw(process);
const { columns, rows } = process.stdout;
if (draws) process.stdout.write(firstFrame({ columns, rows, env: process.env, ...clocked() }));
if (how === 'crash')
  setTimeout(() => {
    throw new Error('boom from a timer');
  }, 1500);
if (how === 'broken')
  setTimeout(() => {
    Object.defineProperty(VIEWS.choice, 'facts', { value: undefined });
  }, 800);
const show = draws
  ? (await import('../../src/tui/show-run.ts')).showRun
  : (await import('../../src/plain/show-run-plainly.ts')).showRunPlainly;
const end = await show(port, process, { interactive: true });
process.stdout.write(
  `calls: ${run.calls.join(' ')}; answers: ${run.answers.map((answer) => answer.event).join(' ')}\n`,
);
process.exit(end.exitCode);
