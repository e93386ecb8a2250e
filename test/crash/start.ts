import { readlinkSync, realpathSync } from 'node:fs';
import process from 'node:process';
import { treeOf } from '../bench-kit/process-tree.ts';
import type { Ended } from '../bench-kit/product.ts';
import { openPseudoTerminal } from '../bench-kit/pseudo-terminal.ts';
import { lineFor } from './person.ts';
import type { Dress } from './scenes.ts';
import type { Stage } from './stage.ts';

/** A process of the product, however it is wrapped. */
export interface Started {
  /** Signals the product itself, not what it is wrapped in; nothing happens when it is gone. */
  kill(signal: NodeJS.Signals): void;
  /** `code` is null when a signal ended it. */
  readonly ended: Promise<Ended>;
  /** Of the product; undefined when it is gone. */
  pid(): number | undefined;
}

/** Nothing in a trial takes as long. */
const HUNG_MS = 90_000;
const SIZE = { cols: 100, rows: 40 };

/**
 * Starts a command of the product, below a tracer if `under` names one: headless with everything answered by
 * flags; with a full screen and a person who reads and types; or in lines, for a person who decides what no
 * flag does. What hangs is killed and ends as code -1.
 */
export function startOn(
  stage: Stage,
  dress: Dress | 'lines',
  words: readonly string[],
  under: readonly string[] = [],
): Started {
  if (dress === 'headless') {
    const { confirm, errand } = stage.scene;
    const flags = errand === undefined ? ['--yes', '--confirm', confirm] : [];
    const { child, ended } = stage.bench.startUnder(under, ...words, ...flags);
    return guarded(child.pid, ended, under.length === 0);
  }
  return inTerminal(stage, dress, words, under);
}

function inTerminal(
  stage: Stage,
  dress: 'screen' | 'lines',
  words: readonly string[],
  under: readonly string[],
): Started {
  const { product, bench, scene } = stage;
  const own = dress === 'lines' ? ['--plain'] : [];
  const command = [...under, process.execPath, product.cli, ...words, ...own].map((word) => `'${word}'`);
  const terminal = openPseudoTerminal(`exec ${command.join(' ')}`, {
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: product.compiled, ...bench.env },
    size: SIZE,
  });
  const { bytes, type } = terminal;
  const timer =
    dress === 'screen'
      ? setInterval(
          watchScreen(() => terminal.rows().join('\n'), type, scene.confirm),
          30,
        )
      : setInterval(
          watchLines(bytes, (text) => type(`${lineFor(text, stage)}\r`)),
          30,
        );
  const ended = terminal.ended.then((code): Ended => {
    clearInterval(timer);
    const killed = code === null || DEATHS.includes(code);
    return { code: killed ? null : code, stdout: '', stderr: bytes().replaceAll(ESCAPES, '') };
  });
  return guarded(terminal.pid, ended, false);
}

/** How script(1) tells that SIGHUP, SIGKILL or SIGTERM ended a program: 128 and the number of the signal. */
const DEATHS = [129, 137, 143];

// biome keeps control characters out of literals: these are ESC and what follows it.
const ESCAPES = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[A-Za-z]|[=>])`, 'gu');

/**
 * A person who takes what stands under the cursor, and types the name where one is wanted. A question takes
 * no key in its first 150 ms.
 */
function watchScreen(look: () => string, type: (keys: string) => void, name: string): () => void {
  let before = '';
  let since = performance.now();
  let acted = '';
  return () => {
    const now = look();
    if (now !== before) {
      before = now;
      since = performance.now();
    }
    if (performance.now() - since < 200 || acted === now) return;
    acted = now;
    const hasField = now.includes('Enter confirm');
    if (hasField && !now.includes(`❯ ${name}`)) type(name);
    else if (hasField || /Enter (?:q )?(?:choose|close)/u.test(now)) type('\r');
  };
}

/** Answers each prompt once, when nothing more is written after it. */
function watchLines(read: () => string, answer: (text: string) => void): () => void {
  let answered = 0;
  return () => {
    const text = read().replaceAll(ESCAPES, '');
    if (text.length === answered || !/(?:^|\n)(?:> |\S.*\?: )$/u.test(text)) return;
    answered = text.length;
    answer(text);
  };
}

function guarded(root: number | undefined, ended: Promise<Ended>, isItself: boolean): Started {
  const pid = () => (root === undefined || isItself ? root : productBelow(root));
  const kill = (signal: NodeJS.Signals) => {
    const found = pid();
    if (found !== undefined) send(found, signal);
  };
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    kill('SIGKILL');
  }, HUNG_MS);
  const over = ended.then((end) => {
    clearTimeout(timer);
    root = undefined;
    return hung ? { ...end, code: -1 } : end;
  });
  return { kill, ended: over, pid };
}

/** The first Node below a wrapper, or nothing while there is none. */
function productBelow(root: number): number | undefined {
  const node = realpathSync(process.execPath);
  return treeOf(root).find((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/exe`) === node;
    } catch {
      return false;
    }
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
