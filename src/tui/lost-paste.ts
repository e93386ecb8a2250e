import type { Streams } from '../plain/terminal.ts';

const [BEGINS, ENDS] = ['\u001b[200~', '\u001b[201~'];

/**
 * The same stream, in which Ctrl-C also ends a paste whose end never came, as after a line that broke off.
 * Ink waits for that end and takes every key for a part of the paste.
 */
export function endingLostPastes(stdin: Streams['stdin']): Streams['stdin'] {
  let isPasting = false;
  let tail = '';
  const read = (...args: readonly []) => {
    const chunk: unknown = stdin.read(...args);
    if (typeof chunk !== 'string') return chunk;
    // A key comes by itself; within a paste it comes with the rest of its text.
    if (isPasting && /^\u0003+$/u.test(chunk)) {
      isPasting = false;
      return `${ENDS}${chunk}`;
    }
    const seen = `${tail}${chunk}`;
    const [begun, ended] = [seen.lastIndexOf(BEGINS), seen.lastIndexOf(ENDS)];
    if (begun !== ended) isPasting = begun > ended;
    // A mark may come in two pieces, and none is found twice.
    tail = seen.slice(1 - BEGINS.length);
    return chunk;
  };
  return new Proxy(stdin, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
