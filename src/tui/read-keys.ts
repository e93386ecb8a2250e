import type { Streams } from '../plain/terminal.ts';

const [BEGINS, ENDS] = ['\u001b[200~', '\u001b[201~'];

/** A key as xterm's modifyOtherKeys sends it: the modifiers, then the character. */
const OTHER_KEY = /\u001b\[27;(\d{1,3});(\d{1,7})~/gu;

/**
 * The same stream, with what Ink would lose. Ctrl-C also ends a paste whose end never came, as after a line
 * that broke off: Ink waits for that end and takes every key for a part of the paste. And a key in the form
 * of xterm's modifyOtherKeys, in which another program may have left the terminal, comes in that of kitty:
 * Ink drops the first, and knows the second.
 */
export function readKeys(stdin: Streams['stdin']): Streams['stdin'] {
  let isPasting = false;
  let tail = '';
  const read = (...args: readonly []) => {
    const chunk: unknown = stdin.read(...args);
    if (typeof chunk !== 'string') return chunk;
    // A key comes by itself; within a paste it comes with the rest of its text.
    const isCtrlC = /^(?:\u0003|\u001b\[27;5;99~)+$/u.test(chunk);
    if (isPasting && isCtrlC) {
      isPasting = false;
      return `${ENDS}\u0003`;
    }
    const seen = `${tail}${chunk}`;
    const [begun, ended] = [seen.lastIndexOf(BEGINS), seen.lastIndexOf(ENDS)];
    const wasPasting = isPasting;
    if (begun !== ended) isPasting = begun > ended;
    // A mark may come in two pieces, and none is found twice.
    tail = seen.slice(1 - BEGINS.length);
    // What is pasted stays as it is.
    return wasPasting || begun !== -1 ? chunk : chunk.replace(OTHER_KEY, '\u001b[$2;$1u');
  };
  return new Proxy(stdin, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
