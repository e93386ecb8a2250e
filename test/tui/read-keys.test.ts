import { expect, test } from 'vitest';
import { readKeys } from '../../src/tui/watch-terminal.ts';

/** What a program that reads gets of these chunks, one after the other. */
function reads(...chunks: readonly string[]): readonly unknown[] {
  const left = [...chunks];
  const stdin = readKeys({ read: () => left.shift() ?? null } as never);
  return chunks.map(() => (stdin as unknown as { read(): unknown }).read());
}

test('a key in the form of modifyOtherKeys is passed on in the form of kitty, which Ink knows', () => {
  expect(reads('\u001b[27;5;99~', 'a\u001b[27;2;13~b')).toEqual(['\u001b[99;5u', 'a\u001b[13;2ub']);
});

test('Ctrl-C ends a paste whose end never arrived, in either form', () => {
  for (const key of ['\u0003', '\u001b[27;5;99~'])
    expect(reads('\u001b[200~half a ', 'paste', key)).toEqual([
      '\u001b[200~half a ',
      'paste',
      '\u001b[201~\u0003',
    ]);
});

test('what is pasted stays unchanged', () => {
  const chunks = ['\u001b[200~\u001b[27;5;99~\u001b[201~', '\u001b[200~x', '\u001b[27;5;99~y\u001b[201~'];
  expect(reads(...chunks)).toEqual(chunks);
});
